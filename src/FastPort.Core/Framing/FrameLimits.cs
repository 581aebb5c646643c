namespace FastPort.Framing;

/// <summary>Bounds of the frame size limit, which applies to a frame's length less its timing block.</summary>
public static class FrameLimits
{
    /// <summary>Smallest limit that may be configured: 1 KiB.</summary>
    public const int Minimum = 1024;

    /// <summary>Largest limit that may be configured: 256 MiB.</summary>
    public const int Maximum = 256 * 1024 * 1024;

    /// <summary>The limit where none is configured: 1 MiB.</summary>
    public const int Default = 1024 * 1024;

    /// <summary>The largest body that fits under a limit.</summary>
    /// <param name="limit">Frame limit in bytes.</param>
    public static int MaxBodyBytes(int limit) => limit - FrameHeader.MinimumLength;
}
