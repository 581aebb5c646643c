using System.Buffers;
using FastPort.OpcUa.Encoding;
using FastPort.OpcUa.Server;

namespace FastPort.OpcUa.Services;

/// <summary>Structures that are values of variables.</summary>
internal static class StandardStructures
{
    /// <summary>The encoded structure, as a variable's value holds it.</summary>
    public static ExtensionObject ToExtensionObject<T>(this T value)
        where T : struct, IServiceMessage
    {
        var buffer = new ArrayBufferWriter<byte>();
        var encoder = new BinaryEncoder(buffer);
        encoder.WriteStructure(value);
        encoder.Complete();
        return new ExtensionObject(new NodeId(0, T.EncodingId), ExtensionObjectEncoding.Binary, buffer.WrittenSpan.ToArray());
    }
}

/// <summary>The software of a server (OPC 10000-5, 12.4).</summary>
internal struct BuildInfo : IServiceMessage
{
    public string? ProductUri;
    public string? ManufacturerName;
    public string? ProductName;
    public string? SoftwareVersion;
    public string? BuildNumber;
    public DateTime BuildDate;

    public static ushort EncodingId => NodeIds.BuildInfoEncoding;

    void IStructure.Code<T>(ref T codec)
    {
        codec.Field(ref ProductUri);
        codec.Field(ref ManufacturerName);
        codec.Field(ref ProductName);
        codec.Field(ref SoftwareVersion);
        codec.Field(ref BuildNumber);
        codec.Field(ref BuildDate);
    }
}

/// <summary>How a server is doing (OPC 10000-5, 12.10).</summary>
internal struct ServerStatusDataType : IServiceMessage
{
    public DateTime StartTime;
    public DateTime CurrentTime;
    public ServerState State;
    public BuildInfo BuildInfo;
    public uint SecondsTillShutdown;
    public LocalizedText ShutdownReason;

    public static ushort EncodingId => NodeIds.ServerStatusEncoding;

    void IStructure.Code<T>(ref T codec)
    {
        codec.Field(ref StartTime);
        codec.Field(ref CurrentTime);
        codec.Enumeration(ref State);
        codec.Structure(ref BuildInfo);
        codec.Field(ref SecondsTillShutdown);
        codec.Field(ref ShutdownReason);
    }
}

/// <summary>The least and the greatest value (OPC 10000-8, 5.6.2).</summary>
internal struct ValueRange : IServiceMessage
{
    public double Low;
    public double High;

    public static ushort EncodingId => NodeIds.RangeEncoding;

    void IStructure.Code<T>(ref T codec)
    {
        codec.Field(ref Low);
        codec.Field(ref High);
    }
}

/// <summary>A unit (OPC 10000-8, 5.6.3).</summary>
internal struct EUInformation : IServiceMessage
{
    public string? NamespaceUri;
    public int UnitId;
    public LocalizedText DisplayName;
    public LocalizedText Description;

    public static ushort EncodingId => NodeIds.EUInformationEncoding;

    void IStructure.Code<T>(ref T codec)
    {
        codec.Field(ref NamespaceUri);
        codec.Field(ref UnitId);
        codec.Field(ref DisplayName);
        codec.Field(ref Description);
    }
}
