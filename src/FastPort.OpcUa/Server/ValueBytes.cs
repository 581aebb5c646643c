namespace FastPort.OpcUa.Server;

/// <summary>The approximate memory of a value in addition to its variant.</summary>
internal static class ValueBytes
{
    private const int ElementBytes = 24;

    public static long Of(in Variant value) => value.Reference is { } reference ? Of(reference) : 0;

    private static long Of(object? value) => value switch
    {
        string text => (long)text.Length * sizeof(char),
        byte[] bytes => bytes.Length,
        string?[] texts => texts.Sum(static text => ElementBytes + ((text?.Length ?? 0) * (long)sizeof(char))),
        ByteString[] strings => strings.Sum(static bytes => ElementBytes + (long)bytes.Length),
        DateTime[] or StatusCode[] or Guid[] => ((Array)value).Length * 16L,
        Array elements when elements.GetType().GetElementType()!.IsPrimitive => Buffer.ByteLength(elements),
        Array elements => elements.Cast<object?>().Sum(static element => ElementBytes + Of(element)),
        Variant variant => Of(variant),
        DataValue data => Of(data.Value),
        ByteString bytes => bytes.Length,
        XmlElement element => Of(element.Xml),
        LocalizedText text => Of(text.Locale) + Of(text.Text),
        QualifiedName name => Of(name.Name),
        NodeId id => Of(id.Parts.Identifier),
        ExpandedNodeId id => Of(id.NodeId.Parts.Identifier) + Of(id.NamespaceUri),
        ExtensionObject structure => structure.Body.Length,
        DiagnosticInfo info => ElementBytes + Of(info.AdditionalInfo) + Of(info.InnerDiagnosticInfo),
        _ => 0,
    };
}
