using Microsoft.Extensions.DependencyInjection;
using Microsoft.Extensions.Hosting;
using Microsoft.Extensions.Options;

namespace FastPort.Configuration;

/// <summary>
/// Checks all options that are checked at the start, before the host creates its other services. The first of them that reads wrong options
/// would otherwise end the start with the problems of these options alone.
/// </summary>
internal sealed class OptionsCheck : IHostedService
{
    /// <exception cref="OptionsValidationException">Options are wrong; it names all problems of all options.</exception>
    public OptionsCheck(IStartupValidator validator)
    {
        try
        {
            validator.Validate();
        }
        catch (AggregateException e) when (e.InnerExceptions is [OptionsValidationException first, ..])
        {
            IEnumerable<string> problems = e.InnerExceptions.OfType<OptionsValidationException>().SelectMany(static one => one.Failures);
            throw new OptionsValidationException(first.OptionsName, first.OptionsType, problems.Distinct(StringComparer.Ordinal));
        }
    }

    /// <summary>Adds the check, once.</summary>
    public static void AddTo(IServiceCollection services)
    {
        var check = ServiceDescriptor.Singleton<IHostedService, OptionsCheck>();
        if (!services.Any(other => !other.IsKeyedService && other.ImplementationType == check.ImplementationType))
        {
            // A host creates its services in this order.
            services.Insert(0, check);
        }
    }

    public Task StartAsync(CancellationToken cancellationToken) => Task.CompletedTask;

    public Task StopAsync(CancellationToken cancellationToken) => Task.CompletedTask;
}
