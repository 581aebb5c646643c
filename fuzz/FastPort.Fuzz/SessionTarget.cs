using System.Buffers;
using System.Text;
using FastPort.Dispatch.Streams;
using FastPort.Framing;

namespace FastPort.Fuzz;

/// <summary>
/// A server's session: frames, handshake, control messages, routing, dispatch. The first byte of an input is the size of the pieces in
/// which the rest arrives; 0 for one piece.
/// </summary>
internal static class SessionTarget
{
    private const ushort Inline = 0x1000;
    private const ushort Stream = 0x1001;

    // It reads and writes nothing: the fake connection has one thread.
    private static readonly StreamHandler Handler = new ExchangeHandler<byte[], byte[], SequenceBody>(
        static (in ReadOnlySequence<byte> body) => body.IsSingleSegment && body.FirstSpan is [0xFF, ..]
            ? throw new RequestRefusedException(ErrorCode.MalformedBody, "No item.")
            : body.ToArray(),
        static item => new SequenceBody(new ReadOnlySequence<byte>(item)),
        static (_, _, _) => Never());

    public static Target Create() => new("session", Run, Seeds);

    private static void Run(byte[] input)
    {
        if (input.Length == 0)
        {
            return;
        }

        using var session = new QuietSession(
            static handlers => handlers
                .MapInline(Inline, static (ref InlineRequest r) => r.Reply(r.Body.ToArray()))
                .MapStream(Stream, Handler, "Stream"),
            static options => options.Session.MaxFrameBytes = 64 * 1024);
        byte[] rest = input[1..];
        foreach (byte[] piece in input[0] == 0 ? [rest] : rest.Chunk(input[0]))
        {
            if (session.Connection.IsClosing)
            {
                break;
            }

            // The fake connection takes apart what is sent, and throws if it is not whole frames.
            session.Connection.Receive(piece);
        }

        CloseReason? reason = session.Connection.Reason;
        Finding.Unless(reason?.Kind != CloseKind.Internal, $"The session has ended with {reason}");
    }

    private static IEnumerable<byte[]> Seeds()
    {
        byte[] hello = Frame(ControlType.Hello, 0, 1, [.. Text(1, "anna"), .. Text(2, "token"), .. Text(3, "client"), .. Number(4, 1)]);
        byte[] ping = Frame(ControlType.Ping, 0, 2, []);
        byte[] echo = Frame(Inline, 8, 3, [1, 2, 3]);
        byte[] post = Frame(Inline, 4, 0, [1]);
        byte[] subscribe = Frame(ControlType.Subscribe, 0, 4, Text(1, "news"));
        byte[] unsubscribe = Frame(ControlType.Unsubscribe, 0, 5, Text(1, "news"));
        byte[] publish = Frame(ControlType.Publish, 0, 6, [.. Text(1, "news/a"), .. Number(2, 7), .. Text(3, "body")]);
        byte[] relay = Frame(ControlType.Relay, 0, 7, [.. Text(1, "anna"), .. Number(2, 7), .. Text(3, "body")]);
        byte[] cancel = Frame(ControlType.Cancel, 4, 0, Number(1, 3));
        byte[] goodbye = Frame(ControlType.Goodbye, 4, 0, [.. Number(1, 0), .. Text(2, "bye")]);
        byte[] traced = Frame(Inline, 16, 8, [.. new byte[16], .. new byte[8], 1, 9]);
        byte[] reply = Frame(Inline, 1, 9, [1]);
        byte[] streams = Frame(ControlType.Hello, 0, 1, Number(4, 3));
        byte[] opening = [.. Credit(10, 2), .. Frame(Stream, 32, 10, [])];
        byte[] item = Frame(Stream, 32, 10, [1]);
        byte[] end = Frame(Stream, 0, 10, []);
        yield return [0, .. streams, .. opening, .. item, .. Credit(10, 0), .. Credit(10, 1), .. end, .. item];
        yield return [5, .. streams, .. opening, .. item, .. Frame(ControlType.Cancel, 4, 0, Number(1, 10)), .. item, .. end];
        yield return [0, .. hello, .. subscribe, .. publish, .. relay, .. echo, .. post, .. unsubscribe, .. cancel, .. goodbye];
        yield return [3, .. hello, .. traced, .. ping];
        byte[] calls = Frame(ControlType.Hello, 0, 1, Number(4, 11));
        byte[] limited = [.. Frame(Inline, 128, 8, [1, 0, 0, 0, 9]), .. Frame(Inline, 144, 9, [.. new byte[25], 1, 0, 0, 0, 9])];
        byte[] limitedOpening = [.. Credit(10, 2), .. Frame(Stream, 160, 10, [0, 0, 0, 0])];
        yield return [0, .. calls, .. limited, .. limitedOpening, .. item, .. end];
        foreach (byte[] one in (byte[][])[hello, ping, echo, post, subscribe, publish, relay, cancel, goodbye, traced, reply])
        {
            yield return [0, .. one];
        }
    }

    private static byte[] Frame(ushort type, byte flags, uint correlation, byte[] body)
    {
        byte[] frame = new byte[12 + body.Length];
        new FrameHeader((uint)(8 + body.Length), type, (FrameFlags)flags, FrameHeader.CurrentVersion, correlation).Write(frame);
        body.CopyTo(frame, 12);
        return frame;
    }

    private static byte[] Credit(byte correlation, byte of) => Frame(
        ControlType.Credit, 4, 0, [.. Number(1, correlation), .. Number(2, 3), .. Number(3, 100), .. Number(4, of)]);

    private static async IAsyncEnumerable<byte[]> Never()
    {
        await new TaskCompletionSource().Task;
        yield break;
    }

    private static byte[] Number(int field, byte value) => [(byte)(field << 3), value];

    private static byte[] Text(int field, string text) =>
        [(byte)((field << 3) | 2), (byte)text.Length, .. Encoding.ASCII.GetBytes(text)];
}
