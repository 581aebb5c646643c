namespace FastPort.Tags.Wire;

/// <summary>How a Protocol Buffers field is encoded.</summary>
internal enum WireType
{
    Varint = 0,
    Fixed64 = 1,
    Length = 2,
    Fixed32 = 5,
}
