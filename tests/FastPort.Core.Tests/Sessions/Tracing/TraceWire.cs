using System.Diagnostics;

namespace FastPort.Core.Tests.Sessions.Tracing;

/// <summary>The trace extension byte by byte, from the protocol page.</summary>
internal static class TraceWire
{
    public const byte Trace = 16;
    public const string TraceId = "0af7651916cd43dd8448eb211c80319c";
    public const string SpanId = "b7ad6b7169203331";

    /// <summary>The 25 bytes.</summary>
    public static byte[] Block(string traceId = TraceId, string spanId = SpanId, byte flags = 1) =>
        [.. Convert.FromHexString(traceId), .. Convert.FromHexString(spanId), flags];

    public static byte[] Request(ushort type, uint correlation, byte[] body, byte flags = 0, byte[]? block = null) =>
        Wire.Frame(type, (byte)(flags | Trace), correlation, [.. block ?? Block(), .. body]);

    public static byte[] Hello(uint extensions, string routingId = "") =>
        Wire.Request(Wire.Hello, 0x7000_0000, [.. Wire.Text(1, routingId), .. Wire.Number(4, extensions)]);

    /// <summary>Says Hello with these bits; returns those of the Welcome.</summary>
    public static async Task<ulong> NegotiateAsync(this RawPeer peer, uint extensions = 1, string routingId = "") =>
        (await peer.CallAsync(Hello(extensions, routingId))).NumberAt(5);

    /// <summary>The context of a frame with a trace block, as its peer read it.</summary>
    public static (string TraceId, string SpanId, byte Flags) ContextOf(byte[] blockAndBody) => (
        Convert.ToHexStringLower(blockAndBody.AsSpan(0, 16)), Convert.ToHexStringLower(blockAndBody.AsSpan(16, 8)), blockAndBody[24]);

    public static (string TraceId, string SpanId, byte Flags) ContextOf(Activity activity) =>
        (activity.TraceId.ToString(), activity.SpanId.ToString(), (byte)activity.ActivityTraceFlags);
}
