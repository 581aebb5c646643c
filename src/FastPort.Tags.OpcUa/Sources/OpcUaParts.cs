using System.Buffers;
using System.Diagnostics.CodeAnalysis;
using Microsoft.Extensions.Logging;

namespace FastPort.Tags.OpcUa.Sources;

/// <summary>
/// Parts of arrays that clients have named: <c>NAME[RANGE]</c> with an index range of OPC UA (OPC 10000-4, 7.27), such as
/// <c>table[0,1:2]</c>. Each has a separate number, above those of all tags. Safe from any thread.
/// </summary>
internal sealed class OpcUaParts(OpcUaEndpointOptions options, ILogger logger)
{
    private const int First = 1 << 30;

    // Longer than the range of any array.
    private const int MaxRangeLength = 200;

    private static readonly SearchValues<char> OfRanges = SearchValues.Create("0123456789:,");

    private readonly Lock _gate = new();

    // Under the gate.
    private readonly Dictionary<string, int> _numbers = new(StringComparer.Ordinal);
    private bool _hasRefused;

    // By number, from the first on. Replaced when it grows; read without the gate.
    private volatile OpcUaPart[] _parts = [];

    /// <summary>The place of a tag in the list of tags, and the part of its value; null for all of it.</summary>
    public OpcUaPart Find(int tag) => tag < First ? new OpcUaPart(tag, null) : _parts[tag - First];

    public static bool HasAny(IReadOnlyList<int> tags)
    {
        for (int i = 0; i < tags.Count; i++)
        {
            if (tags[i] >= First)
            {
                return true;
            }
        }

        return false;
    }

    /// <summary>Names a part of a tag. Null if the name is not that of a part, or there are too many.</summary>
    public TagInfo? Resolve(string name, OpcUaTags known)
    {
        if (!TrySplit(name, out string? whole, out string? range) || known.Find(whole) is not { Info: { } info })
        {
            return null;
        }

        lock (_gate)
        {
            int count = _numbers.Count;
            if (!_numbers.TryGetValue(name, out int number))
            {
                if (count >= options.MaxTags)
                {
                    Refuse(name);
                    return null;
                }

                OpcUaPart[] parts = _parts;
                if (count == parts.Length)
                {
                    Array.Resize(ref parts, Math.Max(16, 2 * count));
                }

                number = First + count;
                parts[count] = new OpcUaPart(info.Tag, range);
                _parts = parts;
                _numbers.Add(name, number);
            }

            // Clients can name any parts: a part without subscribers is not requested.
            return info with { Tag = number, Name = name, PartOf = info.Tag, Interval = null };
        }
    }

    /// <summary>
    /// Divides a name into that of a tag and an index range. The server decides whether the range is valid and matches the value.
    /// </summary>
    internal static bool TrySplit(string name, [NotNullWhen(true)] out string? whole, [NotNullWhen(true)] out string? range)
    {
        int open = name.LastIndexOf('[');
        bool isPart = open > 0 && name[^1] == ']' && name.Length - open - 2 is > 0 and <= MaxRangeLength
            && !name.AsSpan()[(open + 1)..^1].ContainsAnyExcept(OfRanges);
        (whole, range) = isPart ? (name[..open], name[(open + 1)..^1]) : (null, null);
        return isPart;
    }

    // Logged once: a client could continue with other names.
    private void Refuse(string name)
    {
        if (!_hasRefused)
        {
            _hasRefused = true;
            OpcUaTagsLog.TooManyParts(logger, options.Name, options.MaxTags, name);
        }
    }
}

/// <summary>A part of a tag's value.</summary>
/// <param name="Tag">The place of the tag in the list of tags.</param>
/// <param name="Range">The index range; null for all of the value.</param>
internal readonly record struct OpcUaPart(int Tag, string? Range);
