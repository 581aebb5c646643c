
namespace FastPort.Core.Tests.Support;

/// <summary>A buffer to lend: counts its releases and is spoilt by the first, so that whoever reads it afterwards is found out.</summary>
internal sealed class BorrowedBuffer(byte[] bytes)
{
    private int _releases;

    public BorrowedBuffer(int count, int seed = 1)
        : this(Wire.Bytes(count, seed))
    {
    }

    public byte[] Bytes { get; } = bytes;

    public int Releases => Volatile.Read(ref _releases);

    public static void Release(object? state)
    {
        var buffer = (BorrowedBuffer)state!;
        buffer.Bytes.AsSpan().Fill(0xEE);
        Interlocked.Increment(ref buffer._releases);
    }
}
