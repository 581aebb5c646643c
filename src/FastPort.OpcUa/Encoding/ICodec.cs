namespace FastPort.OpcUa.Encoding;

/// <summary>
/// One side of the binary encoding, seen by a structure that lists its fields: a decoder sets each field, an encoder writes it. So a
/// structure is described once.
/// </summary>
internal interface ICodec
{
    void Field(ref bool value);

    void Field(ref byte value);

    void Field(ref ushort value);

    void Field(ref int value);

    void Field(ref uint value);

    void Field(ref long value);

    void Field(ref double value);

    void Field(ref string? value);

    void Field(ref DateTime value);

    void Field(ref Guid value);

    void Field(ref ByteString value);

    void Field(ref NodeId value);

    void Field(ref ExpandedNodeId value);

    void Field(ref StatusCode value);

    void Field(ref QualifiedName value);

    void Field(ref LocalizedText value);

    void Field(ref ExtensionObject? value);

    void Field(ref DataValue value);

    void Field(ref Variant value);

    void Field(ref DiagnosticInfo? value);

    /// <summary>An enumeration, Int32 on the wire.</summary>
    void Enumeration<T>(ref T value)
        where T : unmanaged, Enum;

    /// <summary>A structure within this one.</summary>
    void Structure<T>(ref T value)
        where T : struct, IStructure;

    /// <summary>An array of structures.</summary>
    void Structures<T>(ref T[]? values)
        where T : struct, IStructure;

    /// <summary>
    /// The elements of an array whose length was read or written. False if some of them have the status BadDecodingError, because their
    /// values are not valid.
    /// </summary>
    bool Values(Span<DataValue> values);

    /// <summary>The elements of an array whose length was read or written.</summary>
    void Values(Span<StatusCode> values);

    /// <summary>An array of a built-in type.</summary>
    void Array<T>(ref T[]? values);
}

/// <summary>A structure of the services: lists its fields in the order of the encoding (OPC 10000-6, 5.2.6).</summary>
internal interface IStructure
{
    void Code<T>(ref T codec)
        where T : ICodec, allows ref struct;
}
