namespace FastPort.Server;

/// <summary>Exit codes of the programs.</summary>
internal static class ExitCode
{
    /// <summary>All went well.</summary>
    public const int Good = 0;

    /// <summary>The run failed, for example because a port is taken.</summary>
    public const int Failed = 1;

    /// <summary>Arguments or configuration are wrong.</summary>
    public const int Usage = 2;
}
