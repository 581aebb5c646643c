namespace FastPort.Framing;

/// <summary>Bounds of the frame limit, which applies to a frame's length without its timing or trace block.</summary>
public static class FrameLimits
{
    /// <summary>Smallest allowed limit: 1 KiB.</summary>
    public const int Minimum = 1024;

    /// <summary>Largest allowed limit: 256 MiB.</summary>
    public const int Maximum = 256 * 1024 * 1024;

    /// <summary>The default limit: 1 MiB.</summary>
    public const int Default = 1024 * 1024;

    /// <summary>The largest body, in bytes, within a limit.</summary>
    /// <param name="limit">Frame limit in bytes.</param>
    public static int MaxBodyBytes(int limit) => limit - FrameHeader.MinimumLength;
}
