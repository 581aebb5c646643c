using System.Collections.Concurrent;
using FastPort.Protocol;
using Google.Protobuf;

namespace FastPort.Samples.Tests.Snippets;

/// <summary>Handlers shown in docs/handlers.md.</summary>
internal static class HandlerSnippets
{
    public const ushort Sum = 0x1000;
    public const ushort Reverse = 0x1001;
    public const ushort Shout = 0x1002;
    public const ushort Wait = 0x1003;
    public const ushort Keep = 0x1004;

    // docs: typed
    public static void MapTyped(MessageHandlers handlers) => handlers
        .MapInline(Shout, Echo.Parser, (echo, session) => echo.Payload.IsEmpty
            ? throw new RequestRefusedException(ErrorCode.MalformedBody, "The payload is empty.")
            : new Echo { Payload = echo.Payload })
        .MapQueued(Wait, Echo.Parser, async (echo, context) =>
        {
            await Task.Delay(TimeSpan.FromMilliseconds(10), context.Aborted);
            return echo;
        });

    // docs: end

    // docs: borrowed
    public static void MapBorrowed(MessageHandlers handlers, ConcurrentDictionary<long, ByteString> latest) => handlers.MapInline(
        Keep,
        Echo.Parser,
        (echo, session) =>
        {
            // Kept for longer than the handler lasts, so copied. The reply has been encoded by the time it ends.
            latest[session.Id] = ByteString.CopyFrom(echo.Payload.Span);
            return new Echo { Payload = echo.Payload };
        },
        BytesFields.Borrowed);

    // docs: end

    // docs: raw
    public static void MapRaw(MessageHandlers handlers) => handlers
        .MapInline(Sum, (ref InlineRequest request) =>
        {
            uint sum = 0;
            foreach (ReadOnlyMemory<byte> segment in request.Body)
            {
                foreach (byte value in segment.Span)
                {
                    sum += value;
                }
            }

            request.Reply(BitConverter.GetBytes(sum));
        })
        .MapQueued(Reverse, async context =>
        {
            await Task.Yield();
            byte[] body = context.Body.ToArray();
            Array.Reverse(body);
            context.Reply(body);
        });

    // docs: end
}
