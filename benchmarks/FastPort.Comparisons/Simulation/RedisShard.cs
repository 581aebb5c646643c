namespace FastPort.Comparisons.Simulation;

/// <summary>
/// A server of Redis: one thread, in rounds. A round reads once from each connection that has something, runs the commands, and then writes
/// once to each connection that gets something. So the more there is to do, the less each command costs.
/// </summary>
internal sealed class RedisShard(Agenda agenda, UnitCosts costs, Processor processor)
{
    // Of one connection in a round: what the buffer of Redis takes.
    private const int ReadBytes = 16 * 1024;

    private List<RedisConnection> _ready = [];
    private List<RedisConnection> _reading = [];
    private readonly List<RedisCommand> _round = [];
    private readonly WorkThread _thread = new();
    private long _number;
    private bool _isRunning;

    public Processor Processor => processor;

    public long Commands { get; private set; }

    public long Bytes { get; private set; }

    /// <summary>A command has arrived.</summary>
    public void Submit(RedisConnection connection, RedisCommand command)
    {
        connection.Waiting.Enqueue(command);
        if (!connection.IsReady)
        {
            connection.IsReady = true;
            _ready.Add(connection);
        }

        if (!_isRunning)
        {
            _isRunning = true;
            Begin();
        }
    }

    private void Begin()
    {
        if (_ready.Count == 0)
        {
            _isRunning = false;
            return;
        }

        _number++;
        (_reading, _ready) = (_ready, _reading);
        _ready.Clear();
        _round.Clear();
        double time = 0;
        foreach (RedisConnection connection in _reading)
        {
            time += costs.Visit + Read(connection);
            if (!connection.IsBus)
            {
                time += Write(connection);
            }
        }

        processor.Run(_thread, time, End);
    }

    private double Read(RedisConnection connection)
    {
        double time = 0;
        for (int bytes = 0; bytes < ReadBytes && connection.Waiting.TryDequeue(out RedisCommand? command);)
        {
            bytes += command.Bytes;
            time += command.Cost;
            Commands += command.Count;
            Bytes += command.Bytes;
            _round.Add(command);
            if (command.Subscriber is { } subscriber)
            {
                Bytes += command.Bytes;
                time += Write(subscriber);
            }
        }

        connection.IsReady = connection.Waiting.Count > 0;
        if (connection.IsReady)
        {
            _ready.Add(connection);
        }

        return time;
    }

    private double Write(RedisConnection connection)
    {
        bool isFirst = connection.WrittenIn != _number;
        connection.WrittenIn = _number;
        return isFirst ? costs.Visit : 0;
    }

    private void End()
    {
        foreach (RedisCommand command in _round)
        {
            if (command.Done is { } done)
            {
                agenda.After(costs.Network, done);
            }

            if (command.Delivered is { } delivered)
            {
                agenda.After(costs.Network, delivered);
            }
        }

        Begin();
    }
}

/// <summary>A connection to Redis.</summary>
internal sealed class RedisConnection
{
    public Queue<RedisCommand> Waiting { get; } = new();

    /// <summary>Whether it comes from another server of the cluster, which gets no answers.</summary>
    public bool IsBus { get; init; }

    public bool IsReady { get; set; }

    /// <summary>The round that has written to it last.</summary>
    public long WrittenIn { get; set; }
}

/// <summary>A command, or several of one kind in a row.</summary>
/// <param name="Cost">Microseconds of Redis.</param>
/// <param name="Bytes">Its length.</param>
/// <param name="Count">How many commands.</param>
internal sealed record RedisCommand(double Cost, int Bytes, int Count = 1)
{
    /// <summary>Its answer has arrived.</summary>
    public Action? Done { get; init; }

    /// <summary>The connection that a publication is written to.</summary>
    public RedisConnection? Subscriber { get; init; }

    /// <summary>The publication has arrived.</summary>
    public Action? Delivered { get; init; }
}
