using System.Runtime.CompilerServices;

namespace FastPort.Protocol.Tests.Services;

/// <summary>The three kinds of streams. Counts the instances that were disposed.</summary>
internal sealed class CountingService(StreamWitness? witness = null) : CountingBase, IDisposable
{
    public override async IAsyncEnumerable<Number> CountAsync(
        Number request, StreamContext context, [EnumeratorCancellation] CancellationToken cancellationToken)
    {
        try
        {
            for (long i = 1; request.Value <= 0 || i <= request.Value; i++)
            {
                if (request.Value < 0 && i > 3)
                {
                    throw new RequestRefusedException(ErrorCode.NotFound, "There is no fourth number.");
                }

                yield return new Number { Value = i };
            }
        }
        finally
        {
            witness?.CallEnded.TrySetResult();
        }
    }

    public override async ValueTask<Number> SumAsync(
        IAsyncEnumerable<Number> requests, StreamContext context, CancellationToken cancellationToken)
    {
        long sum = 0;
        await foreach (Number number in requests.WithCancellation(cancellationToken))
        {
            if (number.Value == 0)
            {
                break;
            }

            sum += number.Value;
        }

        return new Number { Value = sum };
    }

    public override async IAsyncEnumerable<Number> TotalAsync(
        IAsyncEnumerable<Number> requests, StreamContext context, [EnumeratorCancellation] CancellationToken cancellationToken)
    {
        long total = 0;
        await foreach (Number number in requests.WithCancellation(cancellationToken))
        {
            yield return new Number { Value = total += number.Value };
        }
    }

    public void Dispose() => witness?.InstanceDisposed.TrySetResult();
}

/// <summary>What a test awaits.</summary>
internal sealed class StreamWitness
{
    public TaskCompletionSource CallEnded { get; } = new(TaskCreationOptions.RunContinuationsAsynchronously);

    public TaskCompletionSource InstanceDisposed { get; } = new(TaskCreationOptions.RunContinuationsAsynchronously);
}
