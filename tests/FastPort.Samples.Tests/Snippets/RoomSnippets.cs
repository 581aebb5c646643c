using FastPort.Connections;

namespace FastPort.Samples.Tests.Snippets;

/// <summary>A message of any length, sent piece by piece, shown in docs/pipes.md.</summary>
internal static class RoomSnippets
{
    // docs: room
    public static async Task<bool> SendAsync(Connection connection, Stream source, CancellationToken cancellationToken)
    {
        byte[] piece = new byte[64 * 1024];
        int count;
        while ((count = await source.ReadAsync(piece, cancellationToken)) != 0)
        {
            // False where the connection closes, as BeginWrite's null: nothing can be sent any more.
            if (!await connection.WaitForRoomAsync(256 * 1024, cancellationToken) || connection.BeginWrite() is not { } ring)
            {
                return false;
            }

            try
            {
                ring.Write(piece.AsSpan(0, count));
            }
            finally
            {
                connection.EndWrite();
            }

            connection.Flush();
        }

        return true;
    }

    // docs: end
}
