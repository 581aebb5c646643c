using System.Buffers.Binary;

namespace FastPort.Carriers;

/// <summary>Messages one after another, each after its length.</summary>
internal static class Batch
{
    /// <summary>A message begins with its number.</summary>
    public const int NumberBytes = sizeof(long);

    public static byte[] Join(List<byte[]> messages)
    {
        byte[] batch = new byte[messages.Sum(static message => 4 + message.Length)];
        int at = 0;
        foreach (byte[] message in messages)
        {
            BinaryPrimitives.WriteInt32LittleEndian(batch.AsSpan(at), message.Length);
            message.CopyTo(batch, at + 4);
            at += 4 + message.Length;
        }

        return batch;
    }

    public static ReadOnlySpan<byte> Next(ref ReadOnlySpan<byte> batch)
    {
        int length = BinaryPrimitives.ReadInt32LittleEndian(batch);
        ReadOnlySpan<byte> message = batch.Slice(4, length);
        batch = batch[(4 + length)..];
        return message;
    }
}
