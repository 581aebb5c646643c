using System.Runtime.CompilerServices;
using FastPort.Dispatch;
using Google.Protobuf;

namespace FastPort.Protocol.Handlers;

/// <summary>
/// Answers inline requests with messages of one type. One that is nothing but a large bytes field, which may show the request's, is offered in two parts, so that the
/// contents can be sent from where they were received. Thread-safe.
/// </summary>
internal sealed class InlineReplies<T>
    where T : IMessage<T>
{
    private LentFields? _fields;

    /// <summary>Answers a request.</summary>
    /// <param name="request">The request.</param>
    /// <param name="reply">The reply.</param>
    /// <param name="mayShowRequest">Whether the handler was lent fields of the request.</param>
    public void Answer(scoped ref InlineRequest request, T reply, bool mayShowRequest)
    {
        var body = new ProtobufBody(reply);
        if (!mayShowRequest || body.Size < InlineRequest.MinimumShown || !TryAnswerInParts(ref request, reply, body.Size))
        {
            request.Reply(in body);
        }
    }

    [MethodImpl(MethodImplOptions.NoInlining)]
    private bool TryAnswerInParts(scoped ref InlineRequest request, T reply, int size)
    {
        // By whichever thread is first; another's is as good.
        _fields ??= new LentFields(reply.Descriptor);
        if (!_fields.IsOnly(reply, size, InlineRequest.MinimumShown, out uint tag, out ReadOnlySpan<byte> contents))
        {
            return false;
        }

        Span<byte> head = stackalloc byte[size - contents.Length];
        int at = WriteVarint(head, tag);
        WriteVarint(head[at..], (uint)contents.Length);
        request.Reply(head, contents);
        return true;
    }

    private static int WriteVarint(Span<byte> to, uint value)
    {
        int at = 0;
        for (; value >= 0x80; value >>= 7)
        {
            to[at++] = (byte)(value | 0x80);
        }

        to[at++] = (byte)value;
        return at;
    }
}
