namespace FastPort.OpcUa;

/// <summary>How the body of an <see cref="ExtensionObject"/> is encoded (OPC 10000-6, 5.2.2.15).</summary>
public enum ExtensionObjectEncoding : byte
{
    /// <summary>No body.</summary>
    None = 0,

    /// <summary>OPC UA Binary.</summary>
    Binary = 1,

    /// <summary>XML, as UTF-8.</summary>
    Xml = 2,
}

/// <summary>
/// A structure with the id of its encoding. The body stays encoded, so a structure that this library does not know passes through
/// unchanged. Immutable.
/// </summary>
/// <param name="TypeId">The id of the structure's encoding, not of its data type.</param>
/// <param name="Encoding">How <paramref name="Body"/> is encoded.</param>
/// <param name="Body">The encoded structure; null if there is none.</param>
public sealed record ExtensionObject(ExpandedNodeId TypeId, ExtensionObjectEncoding Encoding, ByteString Body);
