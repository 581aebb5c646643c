using System.Globalization;
using FastPort.Redis.Members;

namespace FastPort.Redis.Directory;

/// <summary>The location of a routing id: the node's instance, and the token of the claim.</summary>
internal readonly record struct Location(ulong Instance, long Token)
{
    /// <summary>Reads the value of an id's key; false for anything else.</summary>
    public static bool TryParse(string? value, out Location location)
    {
        location = default;
        if (value is null || value.Length < 18 || value[16] != ':'
            || !ulong.TryParse(value.AsSpan(0, 16), NumberStyles.AllowHexSpecifier, CultureInfo.InvariantCulture, out ulong instance)
            || !long.TryParse(value.AsSpan(17), NumberStyles.None, CultureInfo.InvariantCulture, out long token))
        {
            return false;
        }

        location = new Location(instance, token);
        return true;
    }

    public override string ToString() => string.Create(CultureInfo.InvariantCulture, $"{Member.Format(Instance)}:{Token}");
}
