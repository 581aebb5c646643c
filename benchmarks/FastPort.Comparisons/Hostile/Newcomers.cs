using System.Net.Sockets;
using System.Security.Authentication;

namespace FastPort.Comparisons.Hostile;

/// <summary>Good clients, one every half second, plainly, over TLS and over WebSocket in turns: Hello, an Echo, gone.</summary>
internal sealed class Newcomers(HostilePlan plan)
{
    private const string Encrypted = "over TLS";
    private const string WebSocket = "over WebSocket";

    private static readonly string[] Ways = ["plainly", Encrypted, WebSocket];
    private static readonly TimeSpan Pause = TimeSpan.FromMilliseconds(500);
    private static readonly TimeSpan Limit = TimeSpan.FromSeconds(30);

    private volatile bool _isComing;

    /// <summary>Whether they come.</summary>
    public bool IsComing
    {
        get => _isComing;
        set => _isComing = value;
    }

    public long Came { get; private set; }

    public long Failed { get; private set; }

    /// <summary>Why the first of those was not served; null where all were.</summary>
    public string? FirstFailure { get; private set; }

    public async Task RunAsync(CancellationToken ending)
    {
        using var timer = new PeriodicTimer(Pause);
        while (!ending.IsCancellationRequested)
        {
            await timer.WaitForNextTickAsync(ending).AsTask().ContinueWith(static _ => { }, TaskScheduler.Default);
            if (IsComing && !ending.IsCancellationRequested)
            {
                Came++;
                if (await ComeAsync(Ways[Came % Ways.Length], ending) is { } failure)
                {
                    Failed++;
                    FirstFailure ??= failure;
                }
            }
        }
    }

    private async Task<string?> ComeAsync(string way, CancellationToken ending)
    {
        using var limit = CancellationTokenSource.CreateLinkedTokenSource(ending);
        limit.CancelAfter(Limit);
        try
        {
            using HostilePeer peer = way switch
            {
                Encrypted => await LedgerSession.EncryptedAsync(plan, limit.Token),
                WebSocket => await WebSocketPeers.OpenAsync(plan, limit.Token),
                _ => await HostilePeer.ConnectAsync(plan.Tcp(), null, limit.Token),
            };
            await peer.HelloAsync("", plan.GoodToken, limit.Token);
            await peer.SendAsync(HostileFrames.Frame(HostileFrames.Echo, 3, HostileFrames.Field(1, "hello")), limit.Token);
            HostileFrame reply = await LedgerSession.ReplyAsync(peer, 3, static _ => { }, limit.Token);
            return reply.IsError ? "an Echo was answered with an error" : null;
        }
        catch (Exception exception) when (
            exception is SocketException or IOException or AuthenticationException or OperationCanceledException)
        {
            // One that is on its way when all ends has not failed.
            return ending.IsCancellationRequested ? null : $"{way}: {exception.Message}";
        }
    }
}
