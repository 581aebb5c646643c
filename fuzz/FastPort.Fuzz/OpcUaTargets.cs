using System.Text;
using FastPort.Connections;
using FastPort.OpcUa;
using FastPort.OpcUa.Encoding;
using FastPort.OpcUa.Server;
using FastPort.OpcUa.Services;

namespace FastPort.Fuzz;

/// <summary>OPC UA: the binary decoder, and a server's secure channel.</summary>
internal static class OpcUaTargets
{
    private delegate void Reading(ref BinaryDecoder decoder);

    // The first byte of an input selects one.
    private static readonly Reading[] Readings =
    [
        static (ref BinaryDecoder d) => d.ReadVariant(),
        static (ref BinaryDecoder d) => d.ReadDataValue(),
        static (ref BinaryDecoder d) => d.ReadDiagnosticInfo(),
        static (ref BinaryDecoder d) => d.ReadExtensionObject(),
        static (ref BinaryDecoder d) => d.ReadStructure<RequestHeader>(),
        static (ref BinaryDecoder d) => d.ReadStructure<ReadRequest>(),
        static (ref BinaryDecoder d) => d.ReadStructure<WriteRequest>(),
        static (ref BinaryDecoder d) => d.ReadStructure<CallRequest>(),
        static (ref BinaryDecoder d) => d.ReadStructure<BrowseRequest>(),
        static (ref BinaryDecoder d) => d.ReadStructure<ActivateSessionRequest>(),
        static (ref BinaryDecoder d) => d.ReadStructure<CreateMonitoredItemsRequest>(),
        static (ref BinaryDecoder d) => d.ReadStructure<PublishResponse>(),
        static (ref BinaryDecoder d) => d.ReadStructure<GetEndpointsResponse>(),
    ];

    public static Target Decoder() => new("opcua-decoder", RunDecoder, DecoderSeeds);

    public static Target Channel() => new("opcua-channel", RunChannel, ChannelSeeds);

    private static void RunDecoder(byte[] input)
    {
        if (input.Length == 0)
        {
            return;
        }

        var decoder = new BinaryDecoder(input.AsSpan(1), EncodingLimits.Default);
        long before = GC.GetAllocatedBytesForCurrentThread();
        Readings[input[0] % Readings.Length](ref decoder);
        long allocated = GC.GetAllocatedBytesForCurrentThread() - before;

        // A null variant takes one byte on the wire and 24 in memory, a data value 48, the emptiest structure 176.
        Finding.Unless(allocated < 100_000 + (400L * input.Length), $"{input.Length} bytes cost {allocated} bytes of memory.");
    }

    private static void RunChannel(byte[] input)
    {
        if (input.Length == 0)
        {
            return;
        }

        var time = new FakeTimeProvider();
        using var clock = new ConnectionClock(time);
        var options = new OpcUaServerOptions
        {
            Endpoints = ["opc.tcp://127.0.0.1:0"],
            SecurityPolicies = [OpcUaSecurityPolicy.None],
        };
        var log = new RecordingLog();
        var server = new OpcUaServer(options, log, time);

        // As the server's start does before it accepts.
        server.Sessions.Start();
        var connection = new SinkConnection(clock);
        connection.Start(new ServerChannel(server));
        byte[] rest = input[1..];
        foreach (byte[] piece in input[0] == 0 ? [rest] : rest.Chunk(input[0]))
        {
            if (connection.IsClosing)
            {
                break;
            }

            connection.Receive(piece);
        }

        Finding.Unless(connection.Reason?.Kind != CloseKind.Internal, $"The channel has ended with {connection.Reason}");
        connection.Abort(CloseReason.LocalClosed);
        RecordingLogCheck.NoErrors(log);
        server.DisposeAsync().AsTask().GetAwaiter().GetResult();
    }

    private static IEnumerable<byte[]> DecoderSeeds()
    {
        yield return [0, 6, 1, 0, 0, 0];
        yield return [0, 0x86, 2, 0, 0, 0, 1, 0, 0, 0, 2, 0, 0, 0];
        yield return [0, 0xC6, 4, 0, 0, 0, 1, 0, 0, 0, 2, 0, 0, 0, 3, 0, 0, 0, 4, 0, 0, 0, 2, 0, 0, 0, 2, 0, 0, 0, 2, 0, 0, 0];
        yield return [1, 0x0F, 12, 1, 0, 0, 0, (byte)'a', 0, 0, 0, 0, 1, 2, 3, 4, 5, 6, 7, 8, 1, 2, 3, 4, 5, 6, 7, 8];
        yield return [2, 0x7F, 1, 0, 0, 0, 2, 0, 0, 0, 3, 0, 0, 0, 4, 0, 0, 0, 1, 0, 0, 0, (byte)'x', 0, 0, 0, 0, 0];
        yield return [3, 1, 0, 0x41, 1, 1, 4, 0, 0, 0, 1, 2, 3, 4];
        for (byte i = 4; i < Readings.Length; i++)
        {
            yield return [i, .. new byte[80]];
        }
    }

    private static IEnumerable<byte[]> ChannelSeeds()
    {
        byte[] url = Encoding.ASCII.GetBytes("opc.tcp://localhost:4840");
        byte[] hello = Message("HELF", [
            .. Number(0), .. Number(65535), .. Number(65535), .. Number(0), .. Number(0), .. Number(url.Length), .. url]);
        byte[] policy = Encoding.ASCII.GetBytes("http://opcfoundation.org/UA/SecurityPolicy#None");
        byte[] header = [0, 0, .. new byte[8], .. Number(1), .. Number(0), 0xFF, 0xFF, 0xFF, 0xFF, .. Number(0), 0, 0, 0];
        byte[] open = Message("OPNF", [
            .. Number(0), .. Number(policy.Length), .. policy, .. Number(-1), .. Number(-1), .. Number(1), .. Number(1),
            1, 0, 0xBE, 1, .. header, .. Number(0), .. Number(0), .. Number(1), .. Number(-1), .. Number(60_000)]);
        byte[] endpoints = Message("MSGF", [
            .. Number(1), .. Number(1), .. Number(2), .. Number(2), 1, 0, 0xAC, 1, .. header, .. Number(url.Length), .. url, .. Number(-1),
            .. Number(-1)]);
        byte[] close = Message("CLOF", [.. Number(1), .. Number(1), .. Number(3), .. Number(3), 1, 0, 0xC4, 1, .. header]);
        yield return [0, .. hello];
        yield return [0, .. hello, .. open];
        yield return [0, .. hello, .. open, .. endpoints, .. close];
        yield return [7, .. hello, .. open, .. endpoints];
    }

    private static byte[] Message(string type, byte[] body) => [.. Encoding.ASCII.GetBytes(type), .. Number(body.Length + 8), .. body];

    private static byte[] Number(int value) => BitConverter.GetBytes(value);
}
