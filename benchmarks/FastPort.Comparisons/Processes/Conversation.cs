using System.Threading.Channels;

namespace FastPort.Comparisons.Processes;

/// <summary>A child process that is asked by lines and answers in lines; disposing it ends it.</summary>
internal sealed class Conversation : IDisposable
{
    private readonly string _name;
    private readonly ChildProcess _process;
    private readonly Channel<string> _lines = Channel.CreateUnbounded<string>();

    private readonly TaskCompletionSource _ended = new(TaskCreationOptions.RunContinuationsAsynchronously);

    private Conversation(string name, Func<Action<string>, ChildProcess> start)
    {
        _name = name;
        _process = start(line => _lines.Writer.TryWrite(line));
    }

    public int Id => _process.Id;

    /// <summary>Starts a process.</summary>
    /// <param name="name">What messages call it.</param>
    /// <param name="command">Executable and arguments, pinned or not.</param>
    /// <param name="environment">Variables beside the present ones.</param>
    /// <param name="bench">Where it belongs.</param>
    public static Conversation Start(
        string name, IReadOnlyList<string> command, IReadOnlyDictionary<string, string> environment, Workbench bench)
    {
        var conversation = new Conversation(name, onOutput => bench.Children.Start(command, bench.TemporaryFolder, environment, onOutput));
        _ = conversation.EndLinesAsync();
        return conversation;
    }

    /// <summary>Completes when the process has ended.</summary>
    public Task Ended => _ended.Task;

    public Task SayAsync(string line) => _process.WriteLineAsync(line);

    /// <summary>Tells the process to end and waits for it.</summary>
    /// <returns>Its exit code.</returns>
    public async Task<int> EndAsync(TimeSpan limit, CancellationToken cancellation)
    {
        _process.CloseInput();
        try
        {
            await _process.WaitForExitAsync(cancellation).WaitAsync(limit, cancellation);
        }
        catch (TimeoutException exception)
        {
            throw new ComparisonException($"{_name} did not end within {limit.TotalSeconds:0} s", exception);
        }

        return _process.ExitCode;
    }

    /// <summary>The next line.</summary>
    /// <exception cref="ComparisonException">The process has ended, or said nothing in time.</exception>
    public async Task<string> HearAsync(TimeSpan limit, CancellationToken cancellation)
    {
        try
        {
            return await _lines.Reader.ReadAsync(cancellation).AsTask().WaitAsync(limit, cancellation);
        }
        catch (TimeoutException exception)
        {
            throw new ComparisonException(
                $"{_name} said nothing within {limit.TotalSeconds:0} s; before, it said: {_process.Errors()}", exception);
        }
        catch (ChannelClosedException exception)
        {
            throw new ComparisonException($"{_name} ended with exit code {_process.ExitCode}; it said: {_process.Errors()}", exception);
        }
    }

    /// <summary>Every line until the process ends.</summary>
    public IAsyncEnumerable<string> HearAllAsync(CancellationToken cancellation) => _lines.Reader.ReadAllAsync(cancellation);

    /// <summary>The last lines the process wrote to standard error.</summary>
    public string Errors() => _process.Errors();

    public void Dispose() => _process.Dispose();

    private async Task EndLinesAsync()
    {
        try
        {
            await _process.WaitForExitAsync(CancellationToken.None);
        }
        catch (InvalidOperationException)
        {
            // It was ended and forgotten meanwhile.
        }

        _lines.Writer.TryComplete();
        _ended.TrySetResult();
    }
}
