using System.Runtime.CompilerServices;
using FastPort.Framing;

namespace FastPort.Sessions.Streams;

/// <summary>Sends the items of a producer: a handler's replies, or a caller's requests.</summary>
internal static class StreamPump
{
    // As for queued handlers: items that are ready are flushed together, but none waits longer than this for the next.
    private const long FlushAfterNanoseconds = 50_000;

    /// <summary>
    /// Sends all items and disposes the producer. Returns false if the stream has ended before. What the producer throws is thrown.
    /// </summary>
    /// <param name="items">The producer.</param>
    /// <param name="encode">Makes the body of an item.</param>
    /// <param name="writer">Where the items are written.</param>
    /// <param name="written">Called after the first item; null for nothing.</param>
    /// <param name="cancellationToken">Canceled when the stream ends before its last item.</param>
    /// <exception cref="ItemTooLargeException">An item exceeds the frame limit.</exception>
    public static async Task<bool> RunAsync<TItem, TBody>(
        IAsyncEnumerable<TItem> items, Func<TItem, TBody> encode, ItemWriter writer, Action? written,
        CancellationToken cancellationToken)
        where TBody : IFrameBody
    {
        IAsyncEnumerator<TItem> source = items.GetAsyncEnumerator(cancellationToken);
        await using ConfiguredAsyncDisposable _ = source.ConfigureAwait(false);
        bool isFlushed = true;
        long firstWritten = 0;
        while (true)
        {
            ValueTask<bool> next = source.MoveNextAsync();
            if (!next.IsCompleted && !isFlushed)
            {
                writer.Flush();
                isFlushed = true;
            }

            if (!await next.ConfigureAwait(false))
            {
                // The last frame flushes them.
                return !writer.HasEnded;
            }

            TBody body = encode(source.Current);
            StreamWrite write;
            while ((write = writer.TryWrite(in body)) != StreamWrite.Written)
            {
                if (!isFlushed)
                {
                    writer.Flush();
                    isFlushed = true;
                }

                switch (write)
                {
                    case StreamWrite.NoCredit:
                        await writer.WhenGrantedAsync().ConfigureAwait(false);
                        break;
                    case StreamWrite.NoRoom:
                        await writer.WhenRoomAsync(cancellationToken).ConfigureAwait(false);
                        break;
                    case StreamWrite.TooLarge:
                        throw new ItemTooLargeException(body.Size);
                    default:
                        return false;
                }
            }

            long now = MonotonicClock.Nanoseconds;
            if (isFlushed)
            {
                isFlushed = false;
                firstWritten = now;
            }
            else if (now - firstWritten > FlushAfterNanoseconds)
            {
                writer.Flush();
                isFlushed = true;
            }

            written?.Invoke();
            written = null;
        }
    }
}

/// <summary>An item of a stream exceeds the frame limit. Each side translates it for its user.</summary>
internal sealed class ItemTooLargeException(int size)
    : Exception($"An item of the stream has a body of {size} bytes, more than the frame limit allows.");
