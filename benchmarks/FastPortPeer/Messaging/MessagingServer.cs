using FastPort;
using System.Globalization;

namespace FastPortPeer.Messaging;

/// <summary>
/// The sending side: a server that sends every message to a routing id. A run is asked for by a line on standard input, <c>run LEAD-IN
/// SECONDS</c>.
/// </summary>
internal sealed class MessagingServer : IAsyncDisposable
{
    private readonly FastPortServer _server;
    private readonly LockStepRun? _lockStep;
    private readonly OneWayRun? _oneWay;
    private readonly TaskCompletionSource _identified = new(TaskCreationOptions.RunContinuationsAsynchronously);

    public MessagingServer(MessagingSettings settings, string endpoint)
    {
        var options = new FastPortServerOptions
        {
            SpinMicroseconds = settings.SpinMicroseconds,
            RequireRoutingId = true,
        };
        options.Endpoints.Add(endpoint);
        var content = new MessageContent(settings.Size);
        var handlers = new MessageHandlers();
        handlers.MapInline(MessagingSettings.BackType, (ref InlineRequest request) => _lockStep?.OnBack(ref request));

        // Whoever answers a message from the client is identified: the client says it is there by a first one of this type.
        handlers.MapInline(MessagingSettings.MessageType, (ref InlineRequest _) => _identified.TrySetResult());
        _server = new FastPortServer(options, handlers);
        _lockStep = settings.LockStep ? new LockStepRun(_server, content) : null;
        _oneWay = settings.LockStep ? null : new OneWayRun(_server, content);
    }

    public async Task StartAsync()
    {
        await _server.StartAsync();
        Console.WriteLine($"listening on {_server.Endpoints[0]}");
    }

    /// <summary>Serves runs until standard input ends.</summary>
    public async Task ServeAsync()
    {
        await _identified.Task;
        Console.WriteLine("ready");
        await foreach (string line in InputLines.Start().ReadAllAsync())
        {
            if (line.Split(' ') is not ["run", var leadIn, var seconds]
                || !double.TryParse(leadIn, CultureInfo.InvariantCulture, out double leadInSeconds)
                || !double.TryParse(seconds, CultureInfo.InvariantCulture, out double measuredSeconds))
            {
                throw new PeerException($"'{line}' is not: run LEAD-IN SECONDS");
            }

            var clock = new RunClock(leadInSeconds, measuredSeconds);
            SideResult result = await (_lockStep?.RunAsync(clock) ?? _oneWay!.RunAsync(clock));
            result.Print();
        }
    }

    public ValueTask DisposeAsync() => _server.DisposeAsync();
}
