using System.IO.Pipelines;
using Microsoft.Extensions.Logging;

namespace FastPort.Connections;

/// <summary>
/// A connection as an <see cref="IDuplexPipe"/>, for protocols written for System.IO.Pipelines. One instance serves one connection:
/// <c>connection.Start(new PipeProtocol(handler, logger))</c>.
/// <para>
/// Input: the loop copies received bytes into a pipe. While the handler has more than a bound of unread bytes, the loop does not read the
/// connection, and TCP's flow control stops the peer. After the peer's last byte the reader completes; the handler can still write. After
/// the handler has completed the reader, all further input is dropped.
/// </para>
/// <para>
/// Output: flushed bytes go into the connection's send ring and to the operating system. <see cref="PipeWriter.FlushAsync"/> waits while
/// more bytes than the bounds allow wait to be sent; it returns <see cref="FlushResult.IsCompleted"/> when nothing can be sent any more.
/// Completing the writer closes the connection in order, in both directions: this side cannot half-close, the peer can.
/// </para>
/// <para>
/// When the connection is lost, the reader throws an <see cref="IOException"/> after the bytes copied so far, so that a truncated stream
/// differs from one that ended. When the handler's task ends, both pipes are completed, which closes the connection; after an exception it
/// closes with <see cref="CloseKind.Internal"/>, and the exception is logged.
/// </para>
/// </summary>
public sealed class PipeProtocol : IConnectionProtocol
{
    /// <summary>Smallest allowed bound, in bytes: 1 KiB.</summary>
    public const int MinimumBytes = 1024;

    /// <summary>Default bound, in bytes: 64 KiB.</summary>
    public const int DefaultBytes = 64 * 1024;

    private readonly Func<IDuplexPipe, Connection, Task> _handler;
    private readonly ILogger _logger;
    private readonly int _inputBytes;
    private readonly Pipe _input;
    private readonly PipeSender _sender;
    private Connection? _connection;

    // The loop sets it before it pauses; the thread that runs the flush's continuation clears it before it resumes the loop.
    private volatile bool _inputFull;

    // Whether the handler has completed its reader. Set by the loop or by the continuation of the flush, which never run at the same time.
    private volatile bool _inputUnwanted;
    private volatile bool _inputEnded;
    private volatile bool _closed;
    private volatile Exception? _fault;

    /// <summary>Creates the protocol of one connection.</summary>
    /// <param name="handler">
    /// Runs once, on the thread pool, from the start of the connection. Its pipe is valid until its task ends; use the connection only for
    /// addresses, counters, <see cref="Connection.Closed"/> and <see cref="Connection.Abort"/>.
    /// </param>
    /// <param name="logger">Logs a handler's exception.</param>
    /// <param name="inputBytes">
    /// Unread bytes in the reader at which the loop stops reading the connection until half are left; <see cref="MinimumBytes"/> to 2^30.
    /// The pipe holds at most twice as many. Defaults to <see cref="DefaultBytes"/>.
    /// </param>
    /// <param name="outputBytes">
    /// Bytes in the connection's send ring above which no more are moved to it until half are left, and bytes in the writer's pipe at which
    /// a flush waits; <see cref="MinimumBytes"/> to 2^30. Defaults to <see cref="DefaultBytes"/>.
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

        // The handler continues on the thread pool, never on the loop. The writing side's continuation runs inline: it only resumes the
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
            throw new InvalidOperationException("This PipeProtocol already serves a connection; create one for each connection.");
        }

        // On the thread pool: the caller is the connection's loop, which a handler must not block.
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

            // At most the bound at a time, so that the pipe never holds more than twice the bound, however much the ring holds.
            CopyIn(input, Math.Min(input.Length, _inputBytes));
            Flush();
        }

        // Bytes that do not fit stay in the ring.
        return ReceiveOutcome.Pause;
    }

    /// <inheritdoc/>
    public void OnInputEnded(bool truncated)
    {
        _inputEnded = true;
        _input.Writer.Complete();
    }

    /// <inheritdoc/>
    public void OnClosed(CloseReason reason)
    {
        ArgumentNullException.ThrowIfNull(reason);
        _closed = true;
        _input.Writer.Complete(
            _inputEnded || _sender.HasEnded ? null : new IOException($"The connection has ended. {reason.Message}", reason.Exception));
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

    // Never throws. A reader that was completed with an exception counts as completed.
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
            // Set before the writer is completed: the close that follows uses it as its reason.
            _fault = e;
            Log(e);
        }

        _sender.Writer.Complete();
        _input.Reader.Complete();
    }

    // Never throws. Bytes that were flushed before the handler failed are still sent.
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
        // The close reason already reports a lost connection; the handler only passes on the exception of its reader.
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
