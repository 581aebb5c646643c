using Microsoft.Extensions.DependencyInjection;

namespace FastPort.Programs.Hosting;

/// <summary>
/// Problems in the configuration that are found while the host is built. Its start names them together with those of all options.
/// </summary>
internal sealed class StartProblems
{
    /// <summary>Adds problems.</summary>
    /// <param name="services">The host's services.</param>
    /// <param name="problems">One sentence per problem.</param>
    public static void Add(IServiceCollection services, IEnumerable<string> problems)
    {
        foreach (string problem in problems)
        {
            services.AddOptions<StartProblems>().Validate(static _ => false, problem).ValidateOnStart();
        }
    }
}
