namespace FastPort.Comparisons.Scenarios;

/// <summary>How messages are protected, with Basic256Sha256; the names are those of the clients' arguments.</summary>
internal enum TickSecurity
{
    /// <summary>Not at all.</summary>
    None,

    /// <summary>Signed.</summary>
    Sign,

    /// <summary>Signed and encrypted.</summary>
    Encrypt,
}
