namespace FastPort.OpcUa.Tests.Encoding;

/// <summary>Random values of every built-in type, and arrays of them.</summary>
internal sealed class RandomValues(Random random)
{
    private static readonly string?[] Texts = [null, string.Empty, "a", "Hot水", "tag-value-000001", new string('x', 300), "\U0001F600"];

    public Variant Variant(int depth = 3)
    {
        BuiltInType type = (BuiltInType)random.Next(0, 26);
        return random.Next(3) switch
        {
            0 when type != BuiltInType.Null => ArrayOf(type, depth),
            1 when type != BuiltInType.Null => MatrixOf(type, depth),
            _ => Scalar(type == BuiltInType.Variant ? BuiltInType.Int32 : type, depth),
        };
    }

    public Variant Scalar(BuiltInType type, int depth) => type switch
    {
        BuiltInType.Null => OpcUa.Variant.Null,
        BuiltInType.Boolean => random.Next(2) == 1,
        BuiltInType.SByte => (sbyte)random.Next(),
        BuiltInType.Byte => (byte)random.Next(),
        BuiltInType.Int16 => (short)random.Next(),
        BuiltInType.UInt16 => (ushort)random.Next(),
        BuiltInType.Int32 => random.Next(int.MinValue, int.MaxValue),
        BuiltInType.UInt32 => (uint)random.NextInt64(),
        BuiltInType.Int64 => random.NextInt64(long.MinValue, long.MaxValue),
        BuiltInType.UInt64 => (ulong)random.NextInt64(long.MinValue, long.MaxValue),
        BuiltInType.Float => BitConverter.Int32BitsToSingle(random.Next()),
        BuiltInType.Double => BitConverter.Int64BitsToDouble(random.NextInt64()),
        BuiltInType.String => Text(),
        BuiltInType.DateTime => Time(),
        BuiltInType.Guid => Guid(),
        BuiltInType.ByteString => Bytes(),
        BuiltInType.XmlElement => OpcUa.Variant.From(new XmlElement(Text())),
        BuiltInType.NodeId => NodeId(),
        BuiltInType.ExpandedNodeId => OpcUa.Variant.From(ExpandedNodeId()),
        BuiltInType.StatusCode => Status(),
        BuiltInType.QualifiedName => Name(),
        BuiltInType.LocalizedText => LocalizedText(),
        BuiltInType.ExtensionObject => OpcUa.Variant.From(ExtensionObject()),
        BuiltInType.DataValue => OpcUa.Variant.From(DataValue(depth - 1)),
        BuiltInType.DiagnosticInfo => OpcUa.Variant.From(DiagnosticInfo(depth)),
        _ => throw new ArgumentOutOfRangeException(nameof(type)),
    };

    public Variant ArrayOf(BuiltInType type, int depth) =>
        random.Next(8) == 0 ? Build(type, depth, -1, null) : Build(type, depth, random.Next(0, 6), null);

    public Variant MatrixOf(BuiltInType type, int depth)
    {
        int[] dimensions = [random.Next(1, 4), random.Next(1, 3), .. random.Next(2) == 0 ? (int[])[] : [random.Next(1, 3)]];
        return Build(type, depth, dimensions.Aggregate(1, static (a, b) => a * b), dimensions);
    }

    public DataValue DataValue(int depth = 2) => new(
        depth <= 0 ? 7 : Variant(depth),
        random.Next(2) == 0 ? default : Status(),
        random.Next(2) == 0 ? default : Time(),
        random.Next(2) == 0 ? default : Time())
    {
        SourcePicoseconds = (ushort)random.Next(0, 10_000),
        ServerPicoseconds = (ushort)(random.Next(2) * random.Next(0, 10_000)),
    };

    public string? Text() => Texts[random.Next(Texts.Length)];

    public NodeId NodeId() => random.Next(6) switch
    {
        0 => new NodeId(0, (uint)random.Next(0, 256)),
        1 => new NodeId((ushort)random.Next(0, 256), (uint)random.Next(0, 65_536)),
        2 => new NodeId((ushort)random.Next(), (uint)random.NextInt64()),
        3 => new NodeId((ushort)random.Next(), Text() ?? string.Empty),
        4 => new NodeId((ushort)random.Next(), Guid()),
        _ => new NodeId((ushort)random.Next(), Bytes().ToArray() ?? []),
    };

    public ExpandedNodeId ExpandedNodeId() =>
        new(NodeId(), random.Next(2) == 0 ? null : "urn:somewhere", random.Next(2) == 0 ? 0 : (uint)random.Next());

    public ExtensionObject ExtensionObject() => random.Next(3) switch
    {
        0 => new ExtensionObject(new NodeId(2, 7), ExtensionObjectEncoding.None, default),
        1 => new ExtensionObject(ExpandedNodeId(), ExtensionObjectEncoding.Binary, Bytes()),
        _ => new ExtensionObject(ExpandedNodeId(), ExtensionObjectEncoding.Xml, "<a/>"u8.ToArray()),
    };

    public DiagnosticInfo DiagnosticInfo(int depth) => new()
    {
        SymbolicId = random.Next(),
        NamespaceUri = random.Next(2) == 0 ? null : random.Next(),
        Locale = random.Next(2) == 0 ? null : random.Next(),
        LocalizedText = random.Next(2) == 0 ? null : random.Next(),
        AdditionalInfo = random.Next(2) == 0 ? null : "more",
        InnerStatusCode = random.Next(2) == 0 ? null : Status(),
        InnerDiagnosticInfo = depth <= 0 || random.Next(2) == 0 ? null : DiagnosticInfo(depth - 1),
    };

    private StatusCode Status() => new((uint)random.NextInt64());

    private QualifiedName Name() => new((ushort)random.Next(), Text());

    private LocalizedText LocalizedText() => new(random.Next(2) == 0 ? null : "de-DE", Text());

    private Guid Guid()
    {
        byte[] bytes = new byte[16];
        random.NextBytes(bytes);
        return new Guid(bytes);
    }

    private ByteString Bytes()
    {
        if (random.Next(4) == 0)
        {
            return default;
        }

        byte[] bytes = new byte[random.Next(0, 40)];
        random.NextBytes(bytes);
        return bytes;
    }

    // From the second day of 1601, as the first moment is "no time".
    private DateTime Time() =>
        new(random.NextInt64(new DateTime(1601, 1, 2).Ticks, new DateTime(9999, 12, 31).Ticks), DateTimeKind.Utc);

    private Variant Build(BuiltInType type, int depth, int length, int[]? dimensions)
    {
        return type switch
        {
            BuiltInType.Boolean => Of<bool>(),
            BuiltInType.SByte => Of<sbyte>(),
            BuiltInType.Byte => Of<byte>(),
            BuiltInType.Int16 => Of<short>(),
            BuiltInType.UInt16 => Of<ushort>(),
            BuiltInType.Int32 => Of<int>(),
            BuiltInType.UInt32 => Of<uint>(),
            BuiltInType.Int64 => Of<long>(),
            BuiltInType.UInt64 => Of<ulong>(),
            BuiltInType.Float => Of<float>(),
            BuiltInType.Double => Of<double>(),
            BuiltInType.String => Of<string>(),
            BuiltInType.DateTime => Of<DateTime>(),
            BuiltInType.Guid => Of<Guid>(),
            BuiltInType.ByteString => Of<ByteString>(),
            BuiltInType.XmlElement => Of<XmlElement>(),
            BuiltInType.NodeId => Of<NodeId>(),
            BuiltInType.ExpandedNodeId => Of<ExpandedNodeId>(),
            BuiltInType.StatusCode => Of<StatusCode>(),
            BuiltInType.QualifiedName => Of<QualifiedName>(),
            BuiltInType.LocalizedText => Of<LocalizedText>(),
            BuiltInType.ExtensionObject => Of<ExtensionObject>(),
            BuiltInType.DataValue => Of<DataValue>(),
            BuiltInType.DiagnosticInfo => Of<DiagnosticInfo>(),
            BuiltInType.Variant => Make(i => depth <= 0 ? (Variant)i : Variant(depth - 1)),
            _ => throw new ArgumentOutOfRangeException(nameof(type)),
        };

        Variant Of<T>() => Make(_ => Scalar(type, depth - 1).Get<T>());

        Variant Make<T>(Func<int, T> element)
        {
            if (length < 0)
            {
                return OpcUa.Variant.FromArray<T>(null);
            }

            T[] elements = [.. Enumerable.Range(0, length).Select(element)];
            return dimensions is null ? OpcUa.Variant.FromArray(elements) : OpcUa.Variant.FromMatrix(elements, dimensions);
        }
    }
}
