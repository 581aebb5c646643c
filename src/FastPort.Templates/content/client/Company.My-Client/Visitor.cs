namespace Company.My_Client;

/// <summary>Calls the greeter and writes what it says. A test passes a substitute of the client.</summary>
public sealed class Visitor(IGreeterClient greeter, TextWriter output)
{
    public async Task VisitAsync(string name, CancellationToken cancellationToken = default)
    {
        var request = new GreetRequest { Name = name };
        Greeting once = await greeter.GreetAsync(request, cancellationToken: cancellationToken);
        await output.WriteLineAsync(once.Text);
        await foreach (Greeting again in greeter.WatchAsync(request, cancellationToken: cancellationToken).Take(3))
        {
            await output.WriteLineAsync(again.Text);
        }
    }
}
