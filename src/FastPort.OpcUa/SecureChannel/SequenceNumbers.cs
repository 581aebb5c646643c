namespace FastPort.OpcUa.SecureChannel;

/// <summary>
/// The numbers of chunks in one direction (OPC 10000-6, 6.7.2.4): each is one higher than the previous one, across renewals of the token.
/// Near the end of the range they start over below 1,024. Not thread-safe.
/// </summary>
internal struct SequenceNumbers
{
    // Where this side starts over. Below the limit of every known stack.
    private const uint StartOverAfter = 4_294_967_000;

    // From here on the peer may start over.
    private const uint PeerMayStartOverAfter = 4_294_966_271;
    private const uint FirstAfterStart = 1024;

    private uint _last;
    private bool _any;

    /// <summary>The number of the next chunk to send.</summary>
    public uint Next()
    {
        _last = _last >= StartOverAfter ? 1 : _last + 1;
        return _last;
    }

    /// <summary>Whether the number of a received chunk is the next one. The first may be any.</summary>
    public bool TryAccept(uint number)
    {
        bool accepted = !_any
            || number == _last + 1
            || (_last >= PeerMayStartOverAfter && number < FirstAfterStart);
        if (accepted)
        {
            (_last, _any) = (number, true);
        }

        return accepted;
    }

    /// <summary>Sets the last number, for tests of the end of the range.</summary>
    internal void StartAfter(uint last) => (_last, _any) = (last, true);
}
