using System.Globalization;
using System.Text;

namespace FastPort.Comparisons.Hostile;

/// <summary>
/// Two good sessions over TLS. One relays and publishes numbers, and waits for each answer; the other notes what comes. Every number that
/// was acknowledged has to come.
/// </summary>
internal sealed class Ledger : IAsyncDisposable
{
    private const string Receiver = "ledger-receiver";
    private const string Topic = "plant/ledger";
    private const double PairsASecond = 50;

    private static readonly TimeSpan ArrivalLimit = TimeSpan.FromSeconds(5);

    private readonly HostilePeer _from;
    private readonly HostilePeer _to;
    private readonly CancellationTokenSource _stop = new();
    private readonly HashSet<string> _acknowledged = new(StringComparer.Ordinal); // the sender's alone
    private readonly HashSet<string> _arrived = new(StringComparer.Ordinal); // guarded by itself
    private Task _sending = Task.CompletedTask;
    private Task _receiving = Task.CompletedTask;

    private Ledger(HostilePeer from, HostilePeer to)
    {
        _from = from;
        _to = to;
    }

    public long Acknowledged => _acknowledged.Count;

    public long Arrived { get; private set; }

    public long Failed { get; private set; }

    public string? FirstFailure { get; private set; }

    public static async Task<Ledger> OpenAsync(HostilePlan plan, CancellationToken ending)
    {
        HostilePeer from = await LedgerSession.OpenAsync(plan, "ledger-sender", ending);
        HostilePeer to = await LedgerSession.OpenAsync(plan, Receiver, ending);
        await to.SendAsync(HostileFrames.Frame(HostileFrames.Subscribe, 2, HostileFrames.Field(1, Topic)), ending);
        HostileFrame subscribed = await LedgerSession.ReplyAsync(to, 2, static _ => { }, ending);
        if (subscribed.IsError)
        {
            throw new ComparisonException($"the ledger may not subscribe: {Message(subscribed)}");
        }

        var ledger = new Ledger(from, to);
        ledger._sending = Task.Run(ledger.SendAsync, CancellationToken.None);
        ledger._receiving = Task.Run(ledger.ReceiveAsync, CancellationToken.None);
        return ledger;
    }

    /// <summary>Sends no more, and waits for what has not come yet.</summary>
    public async Task EndAsync()
    {
        await _stop.CancelAsync();
        await _sending;
        long limit = Environment.TickCount64 + (long)ArrivalLimit.TotalMilliseconds;
        while (CountArrived() < _acknowledged.Count && Environment.TickCount64 < limit)
        {
            await Task.Delay(10);
        }

        Arrived = CountArrived();
    }

    public async ValueTask DisposeAsync()
    {
        await _stop.CancelAsync();
        _from.Dispose();
        _to.Dispose();
        await Task.WhenAll(_sending, _receiving);
        _stop.Dispose();
    }

    private static string Message(HostileFrame error) => Encoding.UTF8.GetString(HostileFrames.BytesOf(error.Body, 2));

    private int CountArrived()
    {
        lock (_arrived)
        {
            return _acknowledged.Count(_arrived.Contains);
        }
    }

    private async Task SendAsync()
    {
        using var timer = new PeriodicTimer(TimeSpan.FromSeconds(1 / PairsASecond));
        try
        {
            for (uint number = 1; !_stop.IsCancellationRequested; number++)
            {
                string text = number.ToString(CultureInfo.InvariantCulture);
                await AskAsync(HostileFrames.Relay, Receiver, $"r{text}", number * 2);
                await AskAsync(HostileFrames.Publish, Topic, $"p{text}", (number * 2) + 1);
                await timer.WaitForNextTickAsync();
            }
        }
        catch (Exception exception) when (exception is IOException or ObjectDisposedException)
        {
            Fail($"the sender's connection has ended: {exception.Message}");
        }
    }

    private async Task AskAsync(ushort type, string to, string number, uint correlation)
    {
        byte[] body = [.. HostileFrames.Field(1, to), .. HostileFrames.Field(2, 1), .. HostileFrames.Field(3, number)];
        await _from.SendAsync(HostileFrames.Frame(type, correlation, body), CancellationToken.None);
        HostileFrame reply = await LedgerSession.ReplyAsync(_from, correlation, static _ => { }, CancellationToken.None);
        if (reply.IsError)
        {
            Fail($"{number}: {Message(reply)}");
        }
        else if (type == HostileFrames.Publish && HostileFrames.Numbers(reply.Body).GetValueOrDefault(1) != 1)
        {
            Fail($"{number}: was not delivered");
        }
        else
        {
            _acknowledged.Add(number);
        }
    }

    private async Task ReceiveAsync()
    {
        try
        {
            await LedgerSession.ReplyAsync(
                _to,
                correlation: 0,
                frame =>
                {
                    lock (_arrived)
                    {
                        _arrived.Add(Encoding.UTF8.GetString(HostileFrames.BytesOf(frame.Body, 3)));
                    }
                },
                CancellationToken.None);
        }
        catch (Exception exception) when (exception is IOException or ObjectDisposedException)
        {
            // The ledger's end, or what is then missing says it.
        }
    }

    private void Fail(string failure)
    {
        Failed++;
        FirstFailure ??= failure;
    }
}
