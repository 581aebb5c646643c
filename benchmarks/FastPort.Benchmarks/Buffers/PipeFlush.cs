using System.IO.Pipelines;

namespace FastPort.Benchmarks.Buffers;

/// <summary>Flushes a pipe that is known to have room.</summary>
internal static class PipeFlush
{
    public static void CompleteAtOnce(PipeWriter writer)
    {
        ValueTask<FlushResult> flush = writer.FlushAsync();
        if (!flush.IsCompletedSuccessfully)
        {
            throw new InvalidOperationException(
                "The pipe paused its writer: the benchmark holds more unread bytes than the pipe's pause threshold.");
        }

        _ = flush.Result;
    }
}
