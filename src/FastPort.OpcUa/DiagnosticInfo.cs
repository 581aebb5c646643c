namespace FastPort.OpcUa;

/// <summary>
/// Details of a failure (OPC 10000-4, 7.12). The numbers are indexes in the string table of the response; null for none. Immutable.
/// </summary>
public sealed record DiagnosticInfo
{
    /// <summary>The vendor's name of the failure.</summary>
    public int? SymbolicId { get; init; }

    /// <summary>The namespace of <see cref="SymbolicId"/>.</summary>
    public int? NamespaceUri { get; init; }

    /// <summary>The language of <see cref="LocalizedText"/>.</summary>
    public int? Locale { get; init; }

    /// <summary>The vendor's text.</summary>
    public int? LocalizedText { get; init; }

    /// <summary>Details of the vendor; null for none.</summary>
    public string? AdditionalInfo { get; init; }

    /// <summary>The status of the operation below; null for none.</summary>
    public StatusCode? InnerStatusCode { get; init; }

    /// <summary>Details of the operation below; null for none.</summary>
    public DiagnosticInfo? InnerDiagnosticInfo { get; init; }
}
