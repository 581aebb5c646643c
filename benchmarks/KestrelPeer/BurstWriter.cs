using System.IO.Pipelines;

namespace KestrelPeer;

/// <summary>Fills the writer's blocks across frames, so that the pipe is asked once per block rather than once per frame.</summary>
internal ref struct BurstWriter(PipeWriter output)
{
    private Span<byte> _free;
    private int _filled;

    /// <summary>Copies a frame and sets bits of one byte near its head.</summary>
    public void WriteReply(scoped ReadOnlySpan<byte> frame, int flagsOffset, byte bits)
    {
        if (frame.Length <= _free.Length)
        {
            frame.CopyTo(_free);
            _free[flagsOffset] |= bits;
            Take(frame.Length);
            return;
        }

        int head = flagsOffset + 1;
        Span<byte> start = stackalloc byte[16];
        frame[..head].CopyTo(start);
        start[flagsOffset] |= bits;
        Write(start[..head]);
        Write(frame[head..]);
    }

    /// <summary>Copies bytes, over as many blocks as it takes.</summary>
    public void Write(scoped ReadOnlySpan<byte> bytes)
    {
        while (bytes.Length > _free.Length)
        {
            int part = _free.Length;
            bytes[..part].CopyTo(_free);
            bytes = bytes[part..];
            _filled += part;
            Commit();
            _free = output.GetSpan(1);
        }

        bytes.CopyTo(_free);
        Take(bytes.Length);
    }

    /// <summary>Tells the pipe about everything written.</summary>
    public void Commit()
    {
        if (_filled > 0)
        {
            output.Advance(_filled);
            _filled = 0;
        }

        _free = default;
    }

    private void Take(int count)
    {
        _free = _free[count..];
        _filled += count;
    }
}
