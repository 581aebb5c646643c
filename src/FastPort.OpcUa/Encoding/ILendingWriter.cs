using System.Buffers;

namespace FastPort.OpcUa.Encoding;

/// <summary>A writer that can refer to large bytes instead of copying them.</summary>
internal interface ILendingWriter : IBufferWriter<byte>
{
    /// <summary>Accepts the next bytes without a copy. They must not change until the message was sent.</summary>
    /// <returns>False if they have to be written.</returns>
    bool TryLend(ReadOnlyMemory<byte> bytes);
}
