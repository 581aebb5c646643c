namespace OpcUaPeer.Ticks;

/// <summary>Whose tags are read and written at every tick. One call at a time.</summary>
internal interface ITickTarget : IAsyncDisposable
{
    /// <summary>Tags of a read.</summary>
    int ReadTags { get; }

    /// <summary>Tags of a write.</summary>
    int WriteTags { get; }

    /// <summary>Reads all tags.</summary>
    ValueTask ReadAsync();

    /// <summary>Checks what was read last: each value as the server had it at first, or as it was written last.</summary>
    /// <exception cref="PeerException">A value is wrong.</exception>
    void CheckRead();

    /// <summary>Writes other values to some of the tags.</summary>
    ValueTask WriteAsync();

    /// <summary>Checks what was answered to the last write.</summary>
    /// <exception cref="PeerException">A tag was not written.</exception>
    void CheckWrite();
}
