using System.Runtime.CompilerServices;
using FastPort;

namespace Company.My_Server;

/// <summary>The server's side of the contract.</summary>
public sealed class GreeterService : GreeterBase
{
    public override ValueTask<Greeting> GreetAsync(GreetRequest request, RequestContext context)
    {
        if (request.Name.Length == 0)
        {
            throw new RequestRefusedException(ErrorCode.MalformedBody, "A greeting needs a name.");
        }

        return ValueTask.FromResult(new Greeting { Text = $"Hello, {request.Name}!" });
    }

    public override async IAsyncEnumerable<Greeting> WatchAsync(
        GreetRequest request, StreamContext context, [EnumeratorCancellation] CancellationToken cancellationToken)
    {
        for (int count = 1; ; count++)
        {
            yield return new Greeting { Text = $"Hello {count}, {request.Name}!" };
            await Task.Delay(TimeSpan.FromSeconds(1), cancellationToken);
        }
    }
}
