namespace FastPort.Comparisons.Hostile;

/// <summary>Sessions of good clients, by hand: they check the server's certificate, and answer its Pings while they wait.</summary>
internal static class LedgerSession
{
    /// <summary>A session over TLS.</summary>
    public static async Task<HostilePeer> OpenAsync(HostilePlan plan, string routingId, CancellationToken ending)
    {
        HostilePeer peer = await EncryptedAsync(plan, ending);
        try
        {
            await peer.HelloAsync(routingId, plan.GoodToken, ending);
            return peer;
        }
        catch
        {
            peer.Dispose();
            throw;
        }
    }

    /// <summary>A connection over TLS.</summary>
    public static async Task<HostilePeer> EncryptedAsync(HostilePlan plan, CancellationToken ending)
    {
        HostilePeer peer = await HostilePeer.ConnectAsync(plan.Tls(), null, ending);
        try
        {
            await peer.EncryptAsync(HostilePeer.Trusting(plan.Host, plan.AuthorityFile), ending);
            return peer;
        }
        catch
        {
            peer.Dispose();
            throw;
        }
    }

    /// <summary>Reads up to the answer to a request; 0 reads to the end of the connection.</summary>
    /// <param name="peer">The connection.</param>
    /// <param name="correlation">The request's number.</param>
    /// <param name="take">Takes one-way frames.</param>
    /// <param name="ending">Gives up.</param>
    public static async Task<HostileFrame> ReplyAsync(
        HostilePeer peer, uint correlation, Action<HostileFrame> take, CancellationToken ending)
    {
        while (true)
        {
            HostileFrame frame = await peer.ReadFrameAsync(ending);
            if (frame.IsReply && frame.Correlation == correlation && correlation != 0)
            {
                return frame;
            }

            if (frame.Type == HostileFrames.Ping && !frame.IsReply)
            {
                await peer.SendAsync(HostileFrames.Pong(frame.Correlation), ending);
            }
            else if (!frame.IsReply)
            {
                take(frame);
            }
        }
    }
}
