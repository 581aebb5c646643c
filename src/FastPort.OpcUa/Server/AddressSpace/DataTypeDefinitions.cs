using System.Buffers;
using FastPort.OpcUa.Encoding;

namespace FastPort.OpcUa.Server;

/// <summary>
/// The attribute DataTypeDefinition of the structures and enumerations of namespace 0 (OPC 10000-3, 8.47 to 8.52): from it a client can
/// decode values whose type it does not know.
/// </summary>
internal static class DataTypeDefinitions
{
    private const uint StructureDefinitionEncoding = 122;
    private const uint EnumDefinitionEncoding = 123;
    private const uint Array = 0x8000_0000;

    // Name and data type of each field, in order; an array is marked.
    private static readonly (uint DataType, uint Encoding, (string Name, uint DataType)[] Fields)[] Structures =
    [
        (NodeIds.Argument, NodeIds.ArgumentEncoding,
            [("Name", NodeIds.String), ("DataType", (uint)BuiltInType.NodeId), ("ValueRank", (uint)BuiltInType.Int32),
            ("ArrayDimensions", NodeIds.UInt32 | Array), ("Description", NodeIds.LocalizedText)]),
        (NodeIds.BuildInfo, NodeIds.BuildInfoEncoding,
            [("ProductUri", NodeIds.String), ("ManufacturerName", NodeIds.String), ("ProductName", NodeIds.String),
            ("SoftwareVersion", NodeIds.String), ("BuildNumber", NodeIds.String), ("BuildDate", NodeIds.UtcTime)]),
        (NodeIds.SignedSoftwareCertificate, NodeIds.SignedSoftwareCertificateEncoding,
            [("CertificateData", (uint)BuiltInType.ByteString), ("Signature", (uint)BuiltInType.ByteString)]),
        (NodeIds.ServerStatusDataType, NodeIds.ServerStatusEncoding,
            [("StartTime", NodeIds.UtcTime), ("CurrentTime", NodeIds.UtcTime), ("State", NodeIds.ServerState),
            ("BuildInfo", NodeIds.BuildInfo), ("SecondsTillShutdown", NodeIds.UInt32), ("ShutdownReason", NodeIds.LocalizedText)]),
        (NodeIds.Range, NodeIds.RangeEncoding, [("Low", NodeIds.Double), ("High", NodeIds.Double)]),
        (NodeIds.EUInformation, NodeIds.EUInformationEncoding,
            [("NamespaceUri", NodeIds.String), ("UnitId", (uint)BuiltInType.Int32), ("DisplayName", NodeIds.LocalizedText),
            ("Description", NodeIds.LocalizedText)]),
    ];

    /// <summary>The definition of a data type; null if it has none.</summary>
    public static ExtensionObject? Find(uint dataType)
    {
        foreach (var structure in Structures)
        {
            if (structure.DataType == dataType)
            {
                return Encode(StructureDefinitionEncoding, writer => WriteStructure(writer, structure.Encoding, structure.Fields));
            }
        }

        foreach ((uint enumeration, _, string[] names) in StandardTypes.EnumStrings)
        {
            if (enumeration == dataType)
            {
                return Encode(EnumDefinitionEncoding, writer => WriteEnumeration(writer, names));
            }
        }

        return null;
    }

    private static ExtensionObject Encode(uint encodingId, Action<ArrayBufferWriter<byte>> write)
    {
        var writer = new ArrayBufferWriter<byte>();
        write(writer);
        return new ExtensionObject(new NodeId(0, encodingId), ExtensionObjectEncoding.Binary, writer.WrittenSpan.ToArray());
    }

    private static void WriteStructure(ArrayBufferWriter<byte> writer, uint encoding, (string Name, uint DataType)[] fields)
    {
        const int PlainStructure = 0;
        var encoder = new BinaryEncoder(writer);
        encoder.WriteNodeId(new NodeId(0, encoding));
        encoder.WriteNodeId(new NodeId(0, NodeIds.Structure));
        encoder.Write(PlainStructure);
        encoder.Write(fields.Length);
        foreach ((string name, uint dataType) in fields)
        {
            bool isArray = (dataType & Array) != 0;
            encoder.WriteString(name);
            encoder.WriteLocalizedText(default);
            encoder.WriteNodeId(new NodeId(0, dataType & ~Array));
            encoder.Write(isArray ? 1 : -1);
            encoder.WriteArray<uint>(isArray ? [0] : null);

            // No longest string; not optional.
            encoder.Write(0u);
            encoder.WriteBoolean(false);
        }

        encoder.Complete();
    }

    private static void WriteEnumeration(ArrayBufferWriter<byte> writer, string[] names)
    {
        var encoder = new BinaryEncoder(writer);
        encoder.Write(names.Length);
        for (int i = 0; i < names.Length; i++)
        {
            encoder.Write((long)i);
            encoder.WriteLocalizedText(names[i]);
            encoder.WriteLocalizedText(default);
            encoder.WriteString(names[i]);
        }

        encoder.Complete();
    }
}
