using System.Globalization;

namespace FastPort.Security.Policies;

/// <summary>A set of message types. Immutable once it is in use.</summary>
internal sealed class TypeSet
{
    private readonly ulong[] _bits = new ulong[65536 / 64];

    /// <summary>Adds <c>0x1000</c>, <c>4096</c>, a range of two such numbers with <c>-</c>, or <c>*</c> for all types.</summary>
    /// <param name="text">The text.</param>
    /// <returns>False if the text is none of them; nothing was then added.</returns>
    public bool TryAdd(string text)
    {
        (ushort first, ushort last) = (0, ushort.MaxValue);
        if (text != "*")
        {
            int dash = text.IndexOf('-', StringComparison.Ordinal);
            string low = dash < 0 ? text : text[..dash];
            string high = dash < 0 ? text : text[(dash + 1)..];
            if (!TryParse(low, out first) || !TryParse(high, out last) || first > last)
            {
                return false;
            }
        }

        for (int type = first; type <= last; type++)
        {
            _bits[type >> 6] |= 1UL << (type & 63);
        }

        return true;
    }

    public void UnionWith(TypeSet other)
    {
        for (int i = 0; i < _bits.Length; i++)
        {
            _bits[i] |= other._bits[i];
        }
    }

    public bool Contains(ushort type) => (_bits[type >> 6] & (1UL << (type & 63))) != 0;

    /// <summary>The types as ranges, for people.</summary>
    public override string ToString()
    {
        List<string> ranges = [];
        for (int type = 0; type <= ushort.MaxValue; type++)
        {
            if (!Contains((ushort)type))
            {
                continue;
            }

            int first = type;
            while (type < ushort.MaxValue && Contains((ushort)(type + 1)))
            {
                type++;
            }

            ranges.Add(first == type ? $"0x{first:X4}" : $"0x{first:X4}-0x{type:X4}");
        }

        return ranges.Count == 0 ? "nothing" : string.Join(", ", ranges);
    }

    private static bool TryParse(string text, out ushort type) => text.StartsWith("0x", StringComparison.OrdinalIgnoreCase)
        ? ushort.TryParse(text.AsSpan(2), NumberStyles.AllowHexSpecifier, CultureInfo.InvariantCulture, out type)
        : ushort.TryParse(text, NumberStyles.None, CultureInfo.InvariantCulture, out type);
}
