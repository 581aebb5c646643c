using System.Buffers.Binary;

namespace FastPort.Comparisons.Hostile;

/// <summary>
/// Sessions of a user that want nothing but to be there. They answer Pings, so no deadline ends them. Connected at a steady rate, kept open
/// to the end, and connected again where the server closes them.
/// </summary>
internal static class IdleConnections
{
    private const double PerSecond = 1000;
    private const int BufferBytes = 64;

    public static IAttacker Of(int connections) => new PacedAttacker(
        "idle-sessions", "a session that does nothing but answer Pings; as a user", PerSecond, connections, StayAsync);

    private static async Task StayAsync(AttackTarget target, CancellationToken ending)
    {
        using HostilePeer peer = await target.LogInAsync(ending);
        byte[] buffer = new byte[BufferBytes];
        int read;
        while ((read = await peer.ReadAsync(buffer, ending)) != 0)
        {
            // A Ping comes alone. Whatever else comes ends the session soon.
            if (read >= HostileFrames.HeaderBytes && BinaryPrimitives.ReadUInt16LittleEndian(buffer.AsSpan(4)) == HostileFrames.Ping)
            {
                await peer.SendAsync(HostileFrames.Pong(BinaryPrimitives.ReadUInt32LittleEndian(buffer.AsSpan(8))), ending);
            }
        }

        throw new IOException("The server has closed it.");
    }
}
