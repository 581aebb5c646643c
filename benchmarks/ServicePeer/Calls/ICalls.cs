namespace ServicePeer.Calls;

/// <summary>One connection of one library, and callers on it.</summary>
internal interface ICalls : IAsyncDisposable
{
    Task ConnectAsync();

    /// <summary>Calls again and again, each call after the reply to the one before, until the trips end.</summary>
    Task RunCallerAsync(Payload payload, RoundTrips trips);
}
