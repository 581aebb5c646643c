using System.Buffers;
using FastPort;
using FastPort.Connections;
using FastPort.Protocol;
using Google.Protobuf;

namespace ThreeNodes.Load;

/// <summary>
/// A client with a routing id. It asks its node for echoes, and sends relays to all other players, which are on any node.
/// </summary>
internal sealed class Player : IAsyncDisposable
{
    private const ushort HelloType = 1;
    private const int Lanes = 4;
    private static readonly TimeSpan Pause = TimeSpan.FromMilliseconds(20);
    private static readonly Echo Question = new() { Payload = ByteString.CopyFrom(new byte[64]) };

    private readonly int _number;
    private readonly int _players;
    private readonly Account _account;
    private readonly FastPortClient _client;

    public Player(int number, int players, string endpoint, ConnectionClock clock, Account account)
    {
        _number = number;
        _players = players;
        _account = account;
        _client = new FastPortClient(
            new FastPortClientOptions { Endpoint = endpoint, RoutingId = Name(number), ClientName = "ThreeNodes" }, clock: clock);
        _client.OnRelayed(HelloType, (scoped in RoutedMessage message) =>
            _account.RelayReceived(BitConverter.ToInt64(message.Body.ToArray())));
    }

    public Task ConnectAsync(CancellationToken cancellationToken) => _client.ConnectAsync(cancellationToken);

    /// <summary>Plays until it is told to end, and then finishes what it has begun.</summary>
    public Task PlayAsync(CancellationToken end) => Task.WhenAll(Enumerable.Range(0, Lanes).Select(lane => PlayLaneAsync(lane, end)));

    public ValueTask DisposeAsync() => _client.DisposeAsync();

    private static string Name(int number) => $"player-{number}";

    private async Task PlayLaneAsync(int lane, CancellationToken end)
    {
        using var timer = new PeriodicTimer(Pause);
        for (int round = lane; !end.IsCancellationRequested; round++)
        {
            await EchoAsync();
            await RelayAsync(Name((_number + 1 + (round % (_players - 1))) % _players));
            await timer.WaitForNextTickAsync(CancellationToken.None);
        }
    }

    // A client sends requests that a stopping node refuses again by itself, to the next node.
    private async Task EchoAsync()
    {
        _account.RequestSent();
        try
        {
            await _client.RequestAsync(DiagnosticType.Echo, Question, Echo.Parser);
            _account.RequestAnswered();
        }
        catch (RequestFailedException e)
        {
            _account.Failed($"Echo: {e.Message}");
        }
    }

    private async Task RelayAsync(string to)
    {
        long number = _account.RelaySent();
        byte[] body = BitConverter.GetBytes(number);
        while (true)
        {
            try
            {
                await _client.RelayAsync(to, HelloType, body);
                _account.RelayConfirmed(number);
                return;
            }
            catch (RequestFailedException e) when (e.Code is ErrorCode.NotFound or ErrorCode.Unavailable)
            {
                // Not passed on: the other player is on its way from one node to another. It is there in a moment.
                _account.Retried();
                await Task.Delay(Pause);
            }
            catch (RequestFailedException e)
            {
                // Timeout, for example: it may have been received or not, and to send it again might make it two.
                _account.Failed($"relay: {e.Message}");
                return;
            }
        }
    }
}
