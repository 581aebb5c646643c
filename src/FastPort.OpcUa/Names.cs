namespace FastPort.OpcUa;

/// <summary>A name with a namespace (OPC 10000-3, 8.3).</summary>
/// <param name="NamespaceIndex">Index in the server's namespace array.</param>
/// <param name="Name">The name; null for none.</param>
public readonly record struct QualifiedName(ushort NamespaceIndex, string? Name)
{
    /// <summary>A name in namespace 0.</summary>
    /// <param name="name">The name.</param>
    public static implicit operator QualifiedName(string? name) => new(0, name);

    /// <summary>The name; before it the namespace index and a colon, unless the index is 0.</summary>
    public override string ToString() => NamespaceIndex == 0 ? Name ?? string.Empty : $"{NamespaceIndex}:{Name}";
}

/// <summary>A text in a language (OPC 10000-3, 8.5).</summary>
/// <param name="Locale">The language, for example <c>en-US</c>; null for none.</param>
/// <param name="Text">The text; null for none.</param>
public readonly record struct LocalizedText(string? Locale, string? Text)
{
    /// <summary>A text without a language.</summary>
    /// <param name="text">The text.</param>
    public static implicit operator LocalizedText(string? text) => new(null, text);

    /// <summary>The text, without its locale; empty for null.</summary>
    public override string ToString() => Text ?? string.Empty;
}

/// <summary>A piece of XML, carried as text and not checked (OPC 10000-6, 5.2.2.8).</summary>
/// <param name="Xml">The text; null for none.</param>
public readonly record struct XmlElement(string? Xml)
{
    /// <summary>The XML; empty for null.</summary>
    public override string ToString() => Xml ?? string.Empty;
}
