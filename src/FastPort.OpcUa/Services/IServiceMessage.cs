using FastPort.OpcUa.Encoding;

namespace FastPort.OpcUa.Services;

/// <summary>
/// The body of a request, a response or another structure that is sent with the id of its encoding. The header of a request or response
/// stands before the body and is not part of it.
/// </summary>
internal interface IServiceMessage : IStructure
{
    /// <summary>Number of the encoding's node id, in namespace 0 (OPC 10000-6, annex A).</summary>
    static abstract ushort EncodingId { get; }
}
