using System.IO.Pipelines;
using FastPort.Buffers;
using Microsoft.Extensions.Logging;

namespace FastPort.Connections;

/// <summary>
/// A connection as an <see cref="IDuplexPipe"/>, for protocols written for System.IO.Pipelines. One instance serves one connection:
/// <c>connection.Start(new PipeProtocol(handler, logger))</c>.
/// <para>
/// Input: received bytes are copied into a pipe. While the handler has more than a bound of them unread, the connection is not read and TCP
/// holds the peer back. After the peer's last byte the reader completes; the handler can still write. A reader that the handler completes
/// lets everything that still comes be dropped.
/// </para>
/// <para>
/// Output: what is flushed goes into the connection's send ring and on to the operating system. <see cref="PipeWriter.FlushAsync"/> waits
/// while bounds on what the peer has not taken are exceeded; it says <see cref="FlushResult.IsCompleted"/> when nothing can be sent any
/// more. Completing the writer closes the connection in order, for both directions: TCP's half-close is the peer's to use.
/// </para>
/// <para>
/// When the connection is lost, the reader throws an <see cref="IOException"/> after what had been copied, so that a stream cut off does
/// not look like one that ended. When the handler's task ends, both pipes are completed, which closes the connection; after an exception
/// that is with <see cref="CloseKind.Internal"/> and a line in the log.
/// </para>
/// </summary>
public sealed class PipeProtocol : IConnectionProtocol
{
    /// <summary>Smallest bound that may be given, in bytes: 1 KiB.</summary>
    public const int MinimumBytes = 1024;

    /// <summary>The bounds where none are given, in bytes: 64 KiB.</summary>
    public const int DefaultBytes = 64 * 1024;

    private readonly Func<IDuplexPipe, Connection, Task> _handler;
    private readonly ILogger _logger;
    private readonly int _inputBytes;
    private readonly Pipe _input;
    private readonly PipeSender _sender;
    private Connection? _connection;

    // Set on the loop before it pauses, cleared by whoever runs the flush's continuation before it resumes the loop.
    private volatile bool _inputFull;

    // The handler has completed its reader: set by the loop or by the continuation above, which never run at the same time.
    private volatile bool _inputUnwanted;
    private volatile bool _inputEnded;
    private volatile bool _closed;
    private volatile Exception? _fault;

    /// <summary>Makes the protocol of one connection.</summary>
    /// <param name="handler">
    /// Runs on the thread pool from the connection's start on, once. Its pipe is valid until its task ends; the connection is for
    /// addresses, counters, <see cref="Connection.Closed"/> and <see cref="Connection.Abort"/>.
    /// </param>
    /// <param name="logger">Where a handler's exception is logged.</param>
    /// <param name="inputBytes">
    /// Unread bytes in the reader from which on the connection is not read until half are left; <see cref="MinimumBytes"/> to 2^30. The
    /// pipe holds twice as many at most. Defaults to <see cref="DefaultBytes"/>.
    /// </param>
    /// <param name="outputBytes">
    /// Bytes in the connection's send ring from which on no more are moved there until half are left, and the same for the writer's own
    /// pipe, from which on a flush waits; <see cref="MinimumBytes"/> to 2^30. Defaults to <see cref="DefaultBytes"/>.
    /// </param>
    /// <exception cref="ArgumentOutOfRangeException">A bound is outside its range.</exception>
    public PipeProtocol(
        Func<IDuplexPipe, Connection, Task> handler, ILogger logger, int inputBytes = DefaultBytes, int outputBytes = DefaultBytes)
    {
        ArgumentNullException.ThrowIfNull(handler);
        ArgumentNullException.ThrowIfNull(logger);
        ArgumentOutOfRangeException.ThrowIfLessThan(inputBytes, MinimumBytes);
        ArgumentOutOfRangeException.ThrowIfGreaterThan(inputBytes, 1 << 30);
        ArgumentOutOfRangeException.ThrowIfLessThan(outputBytes, MinimumBytes);
        ArgumentOutOfRangeException.ThrowIfGreaterThan(outputBytes, 1 << 30);
        _handler = handler;
        _logger = logger;
        _inputBytes = inputBytes;

        // The handler goes on on the pool, never on the loop. The writing side's continuation is ours and does no more than resume the
        // loop.
        _input = new Pipe(new PipeOptions(
            readerScheduler: PipeScheduler.ThreadPool,
            writerScheduler: PipeScheduler.Inline,
            pauseWriterThreshold: inputBytes,
            resumeWriterThreshold: inputBytes / 2,
            useSynchronizationContext: false));
        _sender = new PipeSender(outputBytes);
    }

    /// <inheritdoc/>
    public void OnOpened(Connection connection)
    {
        if (Interlocked.CompareExchange(ref _connection, connection, null) is not null)
        {
            throw new InvalidOperationException("This PipeProtocol serves a connection already; make one for each connection.");
        }

        // On the pool: the caller is an accept loop, which no handler may hold up.
        _ = Task.Run(RunAsync);
    }

    /// <inheritdoc/>
    public ReceiveOutcome OnReceived(ArrayPoolCircularBuffer input)
    {
        ArgumentNullException.ThrowIfNull(input);
        while (!_inputFull)
        {
            if (_inputUnwanted)
            {
                input.Consume(input.Length);
            }

            if (input.IsEmpty)
            {
                return ReceiveOutcome.Continue;
            }

            // No more than the bound at a time, so that the pipe never holds more than twice the bound whatever the ring holds.
            CopyIn(input, Math.Min(input.Length, _inputBytes));
            Flush();
        }

        // What does not fit stays in the ring.
        return ReceiveOutcome.Pause;
    }

    /// <inheritdoc/>
    public void OnInputEnded(bool truncated)
    {
        _inputEnded = true;
        _input.Writer.Complete();
    }

    /// <inheritdoc/>
    public void OnOutputDrained()
    {
    }

    /// <inheritdoc/>
    public long OnTick(long nowMilliseconds) => ConnectionClock.Never;

    /// <inheritdoc/>
    public void OnClosed(CloseReason reason)
    {
        ArgumentNullException.ThrowIfNull(reason);
        _closed = true;
        _input.Writer.Complete(
            _inputEnded || _sender.HasEnded ? null : new IOException($"The connection is over. {reason.Message}", reason.Exception));
        _sender.OnClosed();
    }

    private void CopyIn(ArrayPoolCircularBuffer input, int count)
    {
        while (count != 0)
        {
            Span<byte> room = _input.Writer.GetSpan();
            int piece = Math.Min(count, room.Length);
            input.CopyTo(0, room[..piece]);
            input.Consume(piece);
            _input.Writer.Advance(piece);
            count -= piece;
        }
    }

    private void Flush()
    {
        ValueTask<FlushResult> flush = _input.Writer.FlushAsync();
        if (flush.IsCompletedSuccessfully)
        {
            _inputUnwanted = flush.Result.IsCompleted;
        }
        else
        {
            _inputFull = true;
            _ = ResumeWhenReadAsync(flush);
        }
    }

    // Never throws: the writer is ours, and a reader completed with an exception is one that is completed.
    private async Task ResumeWhenReadAsync(ValueTask<FlushResult> flush)
    {
        try
        {
            _inputUnwanted = (await flush.ConfigureAwait(false)).IsCompleted;
        }
        catch (Exception)
        {
            _inputUnwanted = true;
        }

        _inputFull = false;
        _connection!.ResumeReading();
    }

    // Never throws: ends with both pipes completed and the connection closed or closing.
    private async Task RunAsync()
    {
        _ = CloseWhenSentAsync();
        try
        {
            await _handler(new DuplexPipe(_input.Reader, _sender.Writer), _connection!).ConfigureAwait(false);
        }
        catch (Exception e)
        {
            // Before the writer's end, which closes the connection: it closes with this.
            _fault = e;
            Log(e);
        }

        _sender.Writer.Complete();
        _input.Reader.Complete();
    }

    // Never throws. What was flushed before the handler failed still goes out.
    private async Task CloseWhenSentAsync()
    {
        Exception? completedWith = await _sender.RunAsync(_connection!).ConfigureAwait(false);
        if (completedWith is not null)
        {
            Log(completedWith);
        }

        _connection!.Close((_fault ?? completedWith) is { } fault
            ? new CloseReason(CloseKind.Internal, "The pipe handler threw; see the log.", Exception: fault)
            : _inputEnded ? CloseReason.PeerClosed : CloseReason.LocalClosed);
    }

    private void Log(Exception fault)
    {
        // That the connection was lost is told by its close reason; the handler only passes on what its reader threw.
        if (_closed && fault is (IOException or OperationCanceledException))
        {
            ConnectionLog.PipeHandlerCutOff(_logger, _connection!.Id, fault);
        }
        else
        {
            ConnectionLog.PipeHandlerFault(_logger, _connection!.Id, fault);
        }
    }

    private sealed class DuplexPipe(PipeReader input, PipeWriter output) : IDuplexPipe
    {
        public PipeReader Input { get; } = input;

        public PipeWriter Output { get; } = output;
    }
}
