namespace ServicePeer.Calls;

/// <summary>One connection of one library, and callers on it.</summary>
internal interface ICalls : IAsyncDisposable
{
    Task ConnectAsync();

    /// <summary>Calls again and again, each call after the reply to the one before, until the trips end.</summary>
    Task RunCallerAsync(Payload payload, RoundTrips trips);

    /// <summary>Sends messages in a stream and reads the stream that brings them back, as fast as they go, until the trips end.</summary>
    Task RunExchangeAsync(Payload sent, Payload expected, RoundTrips trips) => throw NotSupported();

    /// <summary>Reads a stream of messages until the trips end.</summary>
    Task RunWatcherAsync(Payload payload, RoundTrips trips) => throw NotSupported();

    private static PeerException NotSupported() => new("This library's streams are not compared.");
}
