using System.Globalization;
using FastPort.Redis.Wire;

namespace FastPort.Redis.Members;

/// <summary>
/// A node, as it is stored in Redis: name, instance and version of the batches, separated by spaces. The instance is new at each start.
/// </summary>
internal sealed record Member(string Name, ulong Instance, int Version)
{
    /// <summary>Whether it reads and writes batches of this process's version.</summary>
    public bool IsCompatible => Version == BatchBuffer.Version;

    public static Member? Parse(string text)
    {
        string[] parts = text.Split(' ');
        return parts.Length >= 3
            && ulong.TryParse(parts[1], NumberStyles.AllowHexSpecifier, CultureInfo.InvariantCulture, out ulong instance)
            && int.TryParse(parts[2], CultureInfo.InvariantCulture, out int version)
            ? new Member(parts[0], instance, version)
            : null;
    }

    /// <summary>An instance as it is written in keys and channels: 16 digits.</summary>
    public static string Format(ulong instance) => instance.ToString("x16", CultureInfo.InvariantCulture);

    public override string ToString() => string.Create(CultureInfo.InvariantCulture, $"{Name} {Format(Instance)} {Version}");
}
