using System.Diagnostics.Tracing;

namespace FastPort.TestHost;

/// <summary>Counts the arrays that the shared pools have out, from the runtime's own events.</summary>
internal sealed class RentedArrays : EventListener
{
    private const int BufferRented = 1;
    private const int BufferReturned = 3;

    private long _outstanding;

    public long Outstanding => Interlocked.Read(ref _outstanding);

    protected override void OnEventSourceCreated(EventSource eventSource)
    {
        if (eventSource.Name == "System.Buffers.ArrayPoolEventSource")
        {
            EnableEvents(eventSource, EventLevel.Verbose);
        }
    }

    protected override void OnEventWritten(EventWrittenEventArgs eventData)
    {
        switch (eventData.EventId)
        {
            case BufferRented:
                Interlocked.Increment(ref _outstanding);
                break;
            case BufferReturned:
                Interlocked.Decrement(ref _outstanding);
                break;
        }
    }
}
