namespace FastPort.Tags.Serving;

/// <summary>A set of handles. Its owner serializes changes; reading needs no lock.</summary>
internal sealed class HandleSet
{
    // Bit i: handle i is in the set. Replaced when it grows; readers see the old or the new one.
    private ulong[] _bits = [];

    public bool Contains(uint handle)
    {
        ulong[] bits = Volatile.Read(ref _bits);
        uint word = handle / 64;
        return word < bits.Length && (bits[word] & (1UL << (int)(handle % 64))) != 0;
    }

    public void Add(uint handle)
    {
        uint word = handle / 64;
        if (word >= _bits.Length)
        {
            ulong[] grown = _bits;
            Array.Resize(ref grown, (int)Math.Max(word + 1, 2 * (uint)_bits.Length));
            Volatile.Write(ref _bits, grown);
        }

        _bits[word] |= 1UL << (int)(handle % 64);
    }

    public void Clear() => Volatile.Write(ref _bits, []);
}
