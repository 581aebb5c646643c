using System.Buffers.Binary;

namespace FastPort.TestHost.Impaired;

/// <summary>
/// The messages of a client to the server that accounts for them: numbered from 0, each with bytes that follow from the number.
/// </summary>
internal static class NumberedMessage
{
    /// <summary>A request; the reply has each byte of its body inverted.</summary>
    public const ushort Request = 0x1000;

    /// <summary>A one-way message with the next of the same numbers.</summary>
    public const ushort Post = 0x1001;

    /// <summary>Asks how often each number of the client in the body was handled; the reply has a byte for each number from 0 on.</summary>
    public const ushort Account = 0x1002;

    private const int HeaderSize = 8;
    private const int LeastFilling = 200;

    public static byte[] Body(int client, int number)
    {
        byte[] body = new byte[HeaderSize + LeastFilling + (number % 64)];
        BinaryPrimitives.WriteInt32LittleEndian(body, client);
        BinaryPrimitives.WriteInt32LittleEndian(body.AsSpan(4), number);
        for (int i = HeaderSize; i < body.Length; i++)
        {
            body[i] = (byte)((number * 31) + i);
        }

        return body;
    }

    /// <summary>Reads who sent the body and its number; false unless each byte is as it was sent.</summary>
    public static bool TryRead(ReadOnlySpan<byte> body, out int client, out int number)
    {
        client = body.Length < HeaderSize ? -1 : BinaryPrimitives.ReadInt32LittleEndian(body);
        number = body.Length < HeaderSize ? -1 : BinaryPrimitives.ReadInt32LittleEndian(body[4..]);
        return client >= 0 && number >= 0 && body.SequenceEqual(Body(client, number));
    }

    public static byte[] Reply(ReadOnlySpan<byte> body)
    {
        byte[] reply = new byte[body.Length];
        for (int i = 0; i < reply.Length; i++)
        {
            reply[i] = (byte)~body[i];
        }

        return reply;
    }
}
