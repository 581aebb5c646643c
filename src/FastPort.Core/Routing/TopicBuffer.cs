using System.Runtime.CompilerServices;
using System.Threading.Channels;
using FastPort.Telemetry;

namespace FastPort.Routing;

/// <summary>
/// The messages of one enumeration, from the session's loop to their reader. The loop never waits: when the buffer is full, a message is
/// dropped. The reader resumes on the thread pool.
/// <para>
/// Messages are numbered, so the reader sees from the gap in the numbers how many were dropped, and where. <see cref="_gate"/> keeps the
/// order of the numbers: two loops may write while a session follows the previous one.
/// </para>
/// </summary>
internal sealed class TopicBuffer<TBody> : ITopicReceiver
{
    private readonly Lock _gate = new();
    private readonly RoutedReader<TBody> _read;
    private readonly Channel<(long Number, TopicMessage<TBody> Message)> _waiting;
    private long _last;

    /// <summary>Creates an empty buffer.</summary>
    /// <param name="read">Reads a message on the loop.</param>
    /// <param name="capacity">Messages that wait for their reader, 1 or more. Memory is taken as they come.</param>
    /// <param name="whenFull">Which message is dropped; not Wait.</param>
    /// <param name="counters">Count the dropped messages.</param>
    public TopicBuffer(RoutedReader<TBody> read, int capacity, BoundedChannelFullMode whenFull, SessionCounters counters)
    {
        _read = read;
        var options = new BoundedChannelOptions(capacity) { FullMode = whenFull, SingleReader = true };
        _waiting = Channel.CreateBounded<(long, TopicMessage<TBody>)>(options, _ => counters.PublicationDropped());
    }

    public void Receive(scoped in RoutedMessage message)
    {
        var kept = new TopicMessage<TBody>(message.Address, message.Type, _read(in message), message.From);
        lock (_gate)
        {
            _waiting.Writer.TryWrite((++_last, kept));
        }
    }

    public void End(string? why) =>
        _waiting.Writer.TryComplete(why is null ? null : new RequestFailedException(RequestFailure.Closed, why));

    /// <summary>The messages until the end; once.</summary>
    public async IAsyncEnumerable<TopicMessage<TBody>> ReadAsync([EnumeratorCancellation] CancellationToken cancellationToken)
    {
        long previous = 0;
        while (await _waiting.Reader.WaitToReadAsync(cancellationToken).ConfigureAwait(false))
        {
            while (_waiting.Reader.TryRead(out (long Number, TopicMessage<TBody> Message) next))
            {
                yield return next.Message with { Dropped = next.Number - previous - 1 };
                previous = next.Number;
                cancellationToken.ThrowIfCancellationRequested();
            }
        }
    }
}
