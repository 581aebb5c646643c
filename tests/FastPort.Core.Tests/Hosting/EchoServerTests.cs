using System.Collections.Concurrent;
using FastPort.Connections;
using FastPort.Telemetry;
using Xunit;

namespace FastPort.Core.Tests.Hosting;

/// <summary>Tests with a server that echoes bytes, and what each of them needs.</summary>
public abstract class EchoServerTests : IAsyncDisposable
{
    private protected static readonly byte[] Hello = "hello"u8.ToArray();

    private protected RecordingLog Log { get; } = new();

    private protected ConcurrentQueue<EchoProtocol> Protocols { get; } = new();

    private protected ConnectionServerOptions Options { get; } = new() { Endpoints = ["tcp://127.0.0.1:0"], MaxConnections = 100 };

    private protected ConnectionServerComponents Components { get; } = new();

    /// <summary>Makes the protocols; null for the echo.</summary>
    private protected Func<Connection, IConnectionProtocol>? MakeProtocol { get; set; }

    private protected ConnectionServer? Server { get; private set; }

    private protected ConnectionCountersSnapshot Counts => Server!.Counters.Snapshot();

    public async ValueTask DisposeAsync()
    {
        GC.SuppressFinalize(this);
        if (Server is not null)
        {
            await Server.StopAsync(new CancellationToken(canceled: true)).InTimeAsync();
            Assert.Equal(0, Server.ConnectionCount);
            Assert.Equal(0, Counts.ConnectionsOpen);
            Assert.All(Protocols, static p => Assert.True(p.Closed.Task.IsCompleted));
        }
    }

    private protected static async Task EchoAsync(RawPeer peer)
    {
        await peer.SendAsync(Hello);
        Assert.Equal(Hello, await peer.ReadBytesAsync(Hello.Length));
    }

    private protected Task<RawPeer> ConnectAsync() => RawPeer.ConnectAsync(Server!.Endpoints[0]);

    private protected async Task StartAsync()
    {
        Server = new ConnectionServer(Options, MakeProtocol ?? Make, Components, Log);
        await Server.StartAsync();

        IConnectionProtocol Make(Connection connection)
        {
            var protocol = new EchoProtocol();
            Protocols.Enqueue(protocol);
            return protocol;
        }
    }

    private protected sealed class EchoProtocol : IConnectionProtocol
    {
        private Connection _connection = null!;

        public TaskCompletionSource<CloseReason> Closed { get; } = new(TaskCreationOptions.RunContinuationsAsynchronously);

        public List<byte> Received { get; } = [];

        /// <summary>What is said at a stop, after which the protocol goes on until its peer leaves. Null to be closed at once.</summary>
        public byte[]? Goodbye { get; set; }

        public void OnOpened(Connection connection) => _connection = connection;

        public ReceiveOutcome OnReceived(ArrayPoolCircularBuffer input)
        {
            byte[] bytes = new byte[input.Length];
            input.CopyTo(0, bytes);
            input.Consume(bytes.Length);
            Received.AddRange(bytes);
            Write(bytes);
            return ReceiveOutcome.Continue;
        }

        public void OnInputEnded(bool truncated) => _connection.Close(CloseReason.PeerClosed);

        public bool OnStopping(CloseReason reason)
        {
            if (Goodbye is not { } goodbye)
            {
                return false;
            }

            Write(goodbye);
            _connection.Flush();
            return true;
        }

        public void OnClosed(CloseReason reason) => Closed.SetResult(reason);

        private void Write(byte[] bytes)
        {
            if (_connection.BeginWrite() is { } output)
            {
                output.Write(bytes);
                _connection.EndWrite();
            }
        }
    }
}
