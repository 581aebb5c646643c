using System.Diagnostics;
using System.Globalization;

namespace FastPortPeer.Nodes;

/// <summary>
/// Sessions that come at a rate, claim a routing id and go. Meanwhile other sessions send echoes, one at a time, whose round trips say how
/// long the loops that they share with the rest were busy with something else. A message is a session that has come and gone.
/// </summary>
/// <param name="endpoint">The server's Unix socket.</param>
/// <param name="rate">Sessions a second, as far as the machine gets.</param>
/// <param name="workers">Sessions that come and go at a time.</param>
internal sealed class ChurnLoad(string endpoint, int rate, int workers) : NodeLoad, IDisposable
{
    // The server gives each loop some of them.
    private const int Echoes = 4;

    // Often enough that no pause of a millisecond or two is missed, and seldom enough to leave the machine to the rest.
    private static readonly TimeSpan EchoPause = TimeSpan.FromMilliseconds(1);

    private readonly string _path = new Uri(endpoint).AbsolutePath;
    private readonly List<RawSession> _echoes = [];
    private string? _failed;
    private long _begunAt;
    private long _begun;
    private long _numbers;

    protected override int Count => workers + Echoes;

    public void Dispose() => _echoes.ForEach(static echo => echo.Dispose());

    protected override void Begin()
    {
        _begunAt = Stopwatch.GetTimestamp();
        _begun = 0;
        for (int i = 0; i < workers; i++)
        {
            _ = ComeAndGoAsync();
        }

        for (int i = 0; i < Echoes; i++)
        {
            if (_echoes.Count <= i)
            {
                _echoes.Add(new RawSession());
                _echoes[i].OpenAsync(_path, Name("echo", i)).Wait();
            }

            RawSession echo = _echoes[i];
            new Thread(() => SendEchoes(echo)) { IsBackground = true }.Start();
        }
    }

    protected override void Throw()
    {
        if (_failed is not null)
        {
            throw new PeerException(_failed);
        }
    }

    private static string Name(string role, long number) => string.Create(CultureInfo.InvariantCulture, $"{role}-{number}");

    private async Task ComeAndGoAsync()
    {
        try
        {
            do
            {
                long due = Interlocked.Increment(ref _begun);
                while (Stopwatch.GetElapsedTime(_begunAt).TotalSeconds * rate < due)
                {
                    await Task.Delay(1);
                }

                using var session = new RawSession();
                await session.OpenAsync(_path, Name("session", Interlocked.Increment(ref _numbers)));
                Counted();
            }
            while (GoesOn());
        }
        catch (Exception e)
        {
            _failed = e.Message;
        }
    }

    private void SendEchoes(RawSession echo)
    {
        try
        {
            do
            {
                Thread.Sleep(EchoPause);
                long sentAt = Stopwatch.GetTimestamp();
                echo.Exchange();
                Took(sentAt);
            }
            while (GoesOn());
        }
        catch (Exception e)
        {
            _failed = e.Message;
        }
    }
}
